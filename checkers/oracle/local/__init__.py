"""The local judge: support of claims by a reference, without an endpoint, a key or a network.

Importing this package loads no model library; making use of the judge does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local.settings import LocalSettings

if TYPE_CHECKING:
    from checkers.oracle.local.encoder import ModelUnusable
    from checkers.oracle.local.judge import EmbeddingJudge

__all__ = ["Claims", "EmbeddingJudge", "Judgement", "LocalSettings", "ModelUnusable"]

_HOMES = {"EmbeddingJudge": "judge", "ModelUnusable": "encoder"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
