"""The embedded parser: a deterministic builder of phrase structure that needs no model."""

from checkers.equivalence.parsers.embedded.parser import EmbeddedParser

__all__ = ["EmbeddedParser"]
