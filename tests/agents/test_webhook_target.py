"""A webhook's requests are signed, and its settings are checked."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from agents.webhook_settings import WebhookSettings, keys_of
from agents.webhooks import signed_headers
from tests.support.webhook_target import SECRET

keys = st.binary(min_size=24, max_size=64)


@given(st.text(), st.from_regex(r"[A-Za-z0-9_:-]{1,256}", fullmatch=True), st.lists(keys, min_size=1, max_size=2))
def test_whatever_is_signed_is_verified_by_another_implementation(text: str, identifier: str, secrets: list[bytes]):
    body = text.encode()
    headers = signed_headers(identifier, body, secrets)
    for secret in secrets:
        Webhook(secret).verify(body, headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(body + b" ", headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(body, headers | {"webhook-id": f"{identifier}0"}, json_parse=False)


@given(st.lists(keys, min_size=1, max_size=2), st.booleans())
def test_a_secret_is_the_base64_of_24_to_64_bytes_padded_or_not_and_there_may_be_two(found: list[bytes], padded: bool):
    encoded = [base64.b64encode(key).decode() for key in found]
    given = " ".join("whsec_" + (one if padded else one.rstrip("=")) for one in encoded)
    assert keys_of(SecretStr(given)) == tuple(found)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"url": "ftp://hooks.example/x"}, "expected a URL such as"),
        ({"url": "https://user:confidential@hooks.example/"}, "credentials do not belong in the URL"),
        ({"url": "https://hooks.example/#part"}, "a fragment"),
        ({"secret": "whsec_confidential!"}, "openssl rand -base64 32"),
        ({"secret": "whsec_" + base64.b64encode(b"c" * 23).decode()}, "24 to 64 random bytes"),
        ({"secret": SECRET.removeprefix("whsec_")}, "expected whsec_"),
        ({"secret": f"{SECRET} whsec_confidential"}, "24 to 64 random bytes"),
        ({"topics": ["alerts", "alerts"]}, "named twice"),
        ({"topics": ["alerts"], "include_record": True}, "include_record is for rejected verdicts"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(wrong: dict[str, Any], said: str):
    with pytest.raises(ValidationError) as caught:
        WebhookSettings.model_validate({"url": "https://hooks.example/x", "secret": SECRET} | wrong)
    messages = [error["msg"] for error in caught.value.errors()]
    assert any(said in message for message in messages), messages
    assert not any("confidential" in message for message in messages)


def test_secrets_are_not_shown():
    settings = WebhookSettings(url="https://hooks.example/x", secret=SecretStr(SECRET))
    assert "AAEC" in SECRET
    assert "AAEC" not in repr(settings) + settings.model_dump_json() + str(settings.model_dump())
