"""Retrieval false matches: MeTMaP, live and as an audit."""

from checkers.retrieval.plugin import PLUGIN

__all__ = ["PLUGIN"]
