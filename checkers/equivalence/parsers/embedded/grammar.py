"""From chunks to a sentence."""

from checkers.equivalence.parsers.embedded.clauses import Clauses
from checkers.equivalence.parsers.embedded.noun_phrases import NounPhrases
from checkers.equivalence.parsers.embedded.verb_phrases import VerbPhrases


class Grammar(Clauses, VerbPhrases, NounPhrases):
    """All rules together; `text` is where they begin."""
