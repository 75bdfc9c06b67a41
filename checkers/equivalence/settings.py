"""The `equivalence` section of the configuration."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from checkers.checker import CheckerSettings, Prompts
from checkers.equivalence.phrase_questions import PARAPHRASES
from checkers.equivalence.proof import Require


class EquivalenceSettings(CheckerSettings):
    """The equivalence checker: the proof of a yes, the test of a no, the model that is asked, the parser."""

    require: Require = "or"
    """`or`: one of the four alignments proves a yes. `and`: a proof needs one in each direction; that gives fewer
    proofs, and fewer wrong ones."""
    ask: Literal["subject_or_judge", "subject", "judge"] = "subject_or_judge"
    """Model that answers the questions. With `subject_or_judge` the judge answers questions about phrases if the
    subject is not configured; a no, which tests the model that is asked, then abstains."""
    tests: Annotated[int, Field(ge=1, le=2 * PARAPHRASES)] = 1
    """Tests that a no has to pass, each with another paraphrase. The first yes rejects it."""
    prompts: Prompts = Field(default_factory=dict)
    corenlp_url: str | None = None
    """Address of a Stanford CoreNLP server that makes the parse trees, such as `http://127.0.0.1:9000`; without one the
    embedded parser makes them."""

    @field_validator("corenlp_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("expected an address such as http://127.0.0.1:9000")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong into the address")
        return value.rstrip("/")
