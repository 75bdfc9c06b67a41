"""What may be configured about parsers."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from checkers.equivalence.parsers import ParserSettings


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000", "https://parser.example", "http://[::1]:9000/corenlp/"])
def test_addresses(url: str) -> None:
    assert ParserSettings(corenlp_url=url).corenlp_url == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["127.0.0.1:9000", "ftp://parser", "http://", "http://me:secret@parser", "http://parser/?properties={}"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValidationError, match="corenlp_url"):
        ParserSettings(corenlp_url=url)


@pytest.mark.parametrize(
    "wrong", [{"parser": "spacy"}, {"corenlp_connections": 0}, {"stanza_language": "../en"}, {"tree_cache_tokens": -1}]
)
def test_what_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ParserSettings.model_validate(wrong)


def test_parsers_are_imported_only_where_they_are_asked_for() -> None:
    code = (
        "import sys; from checkers.equivalence.parsers import ParserSettings; "
        "from checkers.equivalence.parsers.build import build_parser; "
        "build_parser(ParserSettings()); "
        "heavy = {'stanza', 'torch', 'numpy', 'aiohttp', 'openai', 'sentence_transformers'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
