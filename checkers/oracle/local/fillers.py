"""Words about the text rather than of it: "The passage states that", "Here is a concise summary:".

Language models wrap what they say in them. They claim nothing, so they are neither held against the reference nor
counted as support.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from checkers.text.words import Word, normalise, words

_NOUNS = frozenset(
    "passage passages article text document summary report story excerpt snippet author paragraph piece source "
    "content transcript context".split()
)
_VERBS = frozenset(
    "describes discusses mentions states notes provides highlights explains outlines reveals details covers concludes "
    "explores argues examines addresses recounts compares refers introduces lists gives offers tells "
    "says reports focuses presents includes contains summarizes summarises adds emphasizes indicates suggests "
    "information about describing given provided following above".split()
)
_ANNOUNCING = frozenset(
    "here concise brief short summary summaries key main core information passage article text document points point "
    "provided following below covering cover pieces piece described based given here's of the a an in is are as from "
    "on for and with that this it its some important details requested contents include includes follow follows".split()
)
_CHATTING = frozenset(
    "sure certainly course absolutely okay ok i'd i'll i'm i you your happy glad help provide providing to be would "
    "can will let me know if like any more anything else need have questions by please thanks thank hope helps".split()
)
_POINTING = frozenset("here here's following".split())
"""Words of an announcement that point to what comes next, as a colon at its end does."""
_LONGEST_MARKER = 3
"""Characters of a list marker such as "12."."""
_FRAME_REACH = 7
"""Words within which a sentence's opening frame ends."""


class Filler(Enum):
    """A sentence that claims nothing of its own."""

    ANNOUNCEMENT = "it announces what follows and claims nothing"
    CHATTER = "it speaks to the reader and says nothing of the reference"
    MARKER = "it is a list marker"
    FRAGMENT = "it is a single word and no statement"


def filler(sentence: str) -> Filler | None:
    """Which kind of filler a sentence is made of, from closed lists of words; None where it may claim something."""
    lowered = [word.surface.lower() for word in words(normalise(sentence))]
    if not lowered:
        return None
    if len(lowered) == 1 and lowered[0].isdigit() and 1 < len(sentence.strip()) <= _LONGEST_MARKER:
        return Filler.MARKER
    if len(lowered) == 1 and sentence.rstrip().endswith("."):
        return Filler.FRAGMENT
    if all(word in _ANNOUNCING for word in lowered):
        announces = sentence.rstrip().endswith(":") or any(word in _POINTING for word in lowered)
        return Filler.ANNOUNCEMENT if announces else None
    chats = lowered[0] in _CHATTING and all(word in _ANNOUNCING or word in _CHATTING for word in lowered)
    return Filler.CHATTER if chats and len(lowered) > 1 else None


def strip_frame(found: Sequence[Word]) -> list[Word]:
    """Take an opening frame's words out of the content: "The passage also mentions that ..."."""
    result = list(found)
    opening = [word.surface.lower() for word in found[:_FRAME_REACH]]
    noun = next((k for k, word in enumerate(opening) if word in _NOUNS), None)
    subject = noun if noun is not None else 0 if opening[:1] in (["it"], ["this"]) else None
    if subject is None:
        return result
    verbs = [k for k in range(len(opening)) if opening[k] in _VERBS]
    if not verbs or (noun is None and verbs[0] > 2):
        return result
    for k in (*verbs, *([] if noun is None else [noun])):
        result[k] = replace(result[k], content=False)
    return result
