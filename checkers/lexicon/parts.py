"""WordNet's four parts of speech."""

from typing import Literal, get_args

Pos = Literal["n", "v", "a", "r"]
"""Noun, verb, adjective, adverb. Adjective satellites are adjectives."""

PARTS_OF_SPEECH: tuple[Pos, ...] = get_args(Pos)
