"""Which texts are questions."""

import re

from checkers.closed_class import AUXILIARIES
from models.local.tokens import tokens
from models.sentences import split_sentences

_ASKING = frozenset("who whom whose what which when where why how".split())
_SUBJECTS = frozenset("i you he she it we they there this that these those the a an my your our any anyone".split())
_PREPOSITIONS = frozenset("in on at by for with from to of after before since until about during".split())
_ENDS = re.compile(r"[?？]['\"”’)\]]*$")


def is_question(text: str) -> bool:
    """True if the last sentence of a text asks, by its mark or by the way it begins; queries often lack the mark."""
    sentences = [sentence.text for sentence in split_sentences(text)]
    if not sentences:
        return False
    if _ENDS.search(sentences[-1].rstrip()):
        return True
    if sentences[-1].rstrip()[-1] in ".!:":
        return False
    lower = [token.text.lower() for token in tokens(sentences[-1]) if token.text[0].isalnum()]
    if any(word in _ASKING for word in lower[:1]):
        return True
    if len(lower) > 1 and lower[0] in _PREPOSITIONS and lower[1] in {"what", "which", "whom", "whose"}:
        return True
    return len(lower) > 2 and lower[0] in AUXILIARIES and lower[1] in _SUBJECTS
