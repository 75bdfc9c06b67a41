"""Settings of the parsers, and what can be wrong with them."""

from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

ParserName = Literal["embedded", "corenlp", "stanza", "judge"]
PARSERS: tuple[ParserName, ...] = get_args(ParserName)


class ParserUnusable(ValueError):
    """A parser that cannot be had as configured; says what to do about it."""


class ParserSettings(BaseModel):
    """Which parser makes the trees, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    parser: ParserName = "embedded"
    """`embedded` needs nothing; `corenlp` a server (`assay corenlp`), `stanza` a model, `judge` a judge that writes."""
    max_characters: Annotated[int, Field(ge=1, le=10_000)] = 2_000
    """Abstain on longer sentences."""
    corenlp_url: str = "http://127.0.0.1:9000"
    """Where the CoreNLP server answers."""
    corenlp_connections: Annotated[int, Field(ge=1, le=256)] = 2
    """Sentences it is given at once; as many as it has threads."""
    corenlp_timeout_seconds: Annotated[float, Field(gt=0, le=50)] = 20.0
    """For one sentence; a common one takes 0.2 s."""
    stanza_folder: Path | None = None
    """The folder that `stanza.download(..., model_dir=...)` filled; the parser `stanza` needs it."""
    stanza_language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[a-z]+)?$")] = "en"
    """Language of the model in it."""
    parse_prompt: Path | None = None
    """Own template for asking the judge."""
    tree_cache_tokens: Annotated[int, Field(ge=0)] = 200_000
    """Trees kept in memory, counted in their tokens (some 200 bytes each); the least recently used go first."""
    tree_cache_file: Path | None = None
    """An SQLite file in which trees outlast the process; several workers of one machine may share it."""
    tree_cache_megabytes: Annotated[int, Field(ge=1)] = 512
    """Size at which the oldest trees of the file make room for new ones."""

    @field_validator("corenlp_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("expected an address such as http://127.0.0.1:9000")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong into the address")
        return value.rstrip("/")
