"""Settings of the local judge."""

from pydantic import BaseModel, ConfigDict, Field


class LocalSettings(BaseModel):
    """Models of the backend `local`, and the memory and processor time that they may take."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    model: str | None = None
    """Name or path of a sentence-transformers model; the bundled all-MiniLM-L6-v2 if not set."""
    nli_model: str | None = None
    """Name or path of a cross-encoder with entailment and contradiction labels to ask as well; none if not set."""
    threads: int = Field(default=2, ge=1)
    """Processor threads of a forward pass."""
    batch_pieces: int = Field(default=4096, ge=512)
    """Word pieces of one forward pass at most, padding included: bounds its memory."""
    window_pieces: int = Field(default=192, ge=32, le=256)
    """Word pieces of a reference in one window; a longer reference is read in several windows."""
    cached_references: int = Field(default=256, ge=1)
    """Encoded references kept for records that share one."""
    max_words: int = Field(default=50_000, ge=100)
    """Words of a reference that are read, and a hundred times the words of one sentence that are read."""
