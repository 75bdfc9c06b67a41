"""Words: what they are, what they mean alike, and which part of speech they are in a sentence. From WordNet 3.1."""

from checkers.lexicon.lookup import Lexicon, WordRelation, lexicon
from checkers.lexicon.parts import PARTS_OF_SPEECH, Pos
from checkers.lexicon.tagger import tag_words
from checkers.lexicon.tokens import tokens

__all__ = ["PARTS_OF_SPEECH", "Lexicon", "Pos", "WordRelation", "lexicon", "tag_words", "tokens"]
