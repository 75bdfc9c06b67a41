"""The local judge: support of claims by a reference, without an endpoint, a key or a network.

Importing this package loads no model library; making use of the judge does.
"""

from typing import TYPE_CHECKING, Any

from models.claims import Claims, Judgement
from models.local.settings import LocalSettings
from models.model_loading import ModelUnusable

if TYPE_CHECKING:
    from models.local.judge import EmbeddingJudge

__all__ = ["Claims", "EmbeddingJudge", "Judgement", "LocalSettings", "ModelUnusable"]


def __getattr__(name: str) -> Any:
    if name != "EmbeddingJudge":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from models.local.judge import EmbeddingJudge

    return EmbeddingJudge
