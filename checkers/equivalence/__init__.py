"""Semantic equivalence: a proof for yes, a test of trust for no."""

from checkers.equivalence.plugin import PLUGIN

__all__ = ["PLUGIN"]
