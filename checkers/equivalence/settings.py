"""The `equivalence` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from checkers.checker import OPERATIONAL, CheckerSettings
from checkers.equivalence.proof import Require
from checkers.equivalence.questions import PARAPHRASES

Matching = Literal["nearest", "tied"]
ParserName = Literal["embedded", "corenlp"]


class EquivalenceSettings(CheckerSettings):
    """The equivalence checker: what proves a yes, how a no is tested, which model is asked, which parser is used."""

    require: Require = "or"
    """`or`: one of the four alignments proves a yes. `and`: a proof needs one in each direction; that gives fewer
    proofs, and fewer wrong ones."""
    matching: Matching = "nearest"
    """`nearest`: a phrase is matched with the most similar one of the other sentence alone, as in the paper. `tied`:
    also with those that are about as similar; that gives more proofs, which rest on the answers alone."""
    ask: Literal["subject_or_judge", "subject", "judge"] = "subject_or_judge"
    """Model that answers the questions. With `subject_or_judge` the judge answers questions about phrases if the
    subject is not configured; a no, which tests the model that is asked, then abstains."""
    tests: Annotated[int, Field(ge=1, le=2 * PARAPHRASES)] = 1
    """Tests that a no has to pass, each with another paraphrase. The first yes rejects it."""
    at_once: Annotated[int, Field(ge=1, le=32), OPERATIONAL] = 1
    """Phrase pairs of an alignment that are asked about together, the likeliest to be denied first; after two such
    groups all that are left are. More save time but ask some needless questions."""
    model: str | None = None
    """Name or path of the sentence-transformers model that compares phrases; the bundled one if not set."""
    seed: int = 0
    """Seed of the draws, together with the record's id. Change it if a subject might know it."""
    deadline_seconds: Annotated[float, Field(gt=0), OPERATIONAL] = 50.0
    """Time limit of the work on one record; the checker abstains when it has passed. Waiting does not count: for a
    model that is being loaded, for a free place, in a queue. At most `delivery.check_timeout_seconds`."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of your own prompt templates, by the name of the one they replace: `equivalent`, `phrase`,
    `paraphrases`."""
    max_characters: Annotated[int, Field(ge=1, le=10_000)] = 2_000
    """Abstain on longer sentences."""
    parser: ParserName = "embedded"
    """Source of parse trees. `embedded` needs nothing; `corenlp` needs a server (`assay corenlp`)."""
    corenlp_url: Annotated[str, OPERATIONAL] = "http://127.0.0.1:9000"
    """Address of the CoreNLP server."""
    corenlp_connections: Annotated[int, Field(ge=1, le=256), OPERATIONAL] = 2
    """Sentences sent to the server at once; as many as the server has threads."""
    corenlp_timeout_seconds: Annotated[float, Field(gt=0, le=50), OPERATIONAL] = 20.0
    """Time limit for one sentence; a common one takes 0.2 s."""

    @field_validator("corenlp_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("expected an address such as http://127.0.0.1:9000")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong into the address")
        return value.rstrip("/")
