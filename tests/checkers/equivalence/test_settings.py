"""The addresses that are allowed, and the imports of a checker that uses no server."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from checkers.equivalence.settings import EquivalenceSettings


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000", "https://parser.example", "http://[::1]:9000/corenlp/"])
def test_addresses(url: str) -> None:
    assert EquivalenceSettings(corenlp_url=url).corenlp_url == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["127.0.0.1:9000", "ftp://parser", "http://", "http://me:secret@parser", "http://parser/?properties={}"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValidationError, match="corenlp_url"):
        EquivalenceSettings(corenlp_url=url)


def test_parsers_are_imported_only_if_they_are_used() -> None:
    code = (
        "import sys; from checkers.equivalence.settings import EquivalenceSettings; "
        "from checkers.equivalence.parsers import build_parser; "
        "build_parser(EquivalenceSettings()); "
        "heavy = {'torch', 'numpy', 'httpx', 'openai', 'sentence_transformers'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
