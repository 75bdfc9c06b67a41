"""Settings say what is wrong and what is allowed, and start quickly."""

from typing import Any

import pytest
from pydantic import ValidationError

from models.settings import JudgeSettings

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no endpoint": ({"backend": "openai"}, "backend is 'openai', but base_url and model are not set"),
    "no recording": ({"backend": "replay"}, "backend is 'replay', but recording is not set"),
    "no URL": ({"base_url": "localhost:8000"}, "expected a URL such as https"),
    "key in the URL": ({"base_url": "https://me:key@host/v1"}, "put the key in api_key"),
    "URL too long": ({"base_url": "https://host/v1/chat/completions"}, "expected the URL before /chat/completions"),
    "a temperature in words": ({"temperature": "none"}, "should be a number from 0 up to 2, or 'omit'"),
    "two keys": ({"api_key": "a", "extra_headers": {"Authorization": "b"}}, "an endpoint takes one of them"),
    "no header": ({"extra_headers": {"my key": "a"}}, "'my key' is no name of a header"),
    "a header of two lines": ({"extra_headers": {"key": "a\nb: c"}}, "the value of key must be printable ASCII"),
    "a header of the client": ({"extra_headers": {"Content-Type": "a"}}, "'Content-Type' is no name of a header"),
    "no such local judge": (
        {"local": {"judge": "gpt"}},
        "'gpt' is no judge; there are bundled, factcg, hhem-2.1, minicheck-flan-t5-large, and nli:NAME",
    ),
    "a field of ours": ({"extra_body": {"stream": True}}, "stream cannot be set here: it has its own setting"),
}


@pytest.mark.parametrize(("settings", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_explained(settings: dict[str, Any], fault: str):
    with pytest.raises(ValidationError, match=fault):
        JudgeSettings.model_validate(settings)


def test_keys_are_not_shown():
    settings = JudgeSettings.model_validate({"api_key": "sk-1", "extra_headers": {"api-key": "sk-2"}})

    for shown in (repr(settings), settings.model_dump_json()):
        assert "sk-1" not in shown
        assert "sk-2" not in shown
