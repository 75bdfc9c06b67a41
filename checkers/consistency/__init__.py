"""Consistency of a response with its reference, sentence by sentence: DCR (Divide-Conquer-Reasoning)."""

from checkers.consistency.plugin import PLUGIN

__all__ = ["PLUGIN"]
