"""Words about the text or to its reader: "The passage states that", "Here is a concise summary:", "I hope this helps!".

Language models wrap what they say in them. They claim nothing, so they are neither held against the reference nor
counted as support.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from models.claims import SUPPORTED, ClaimKind, Claims, Judgement
from models.text.words import Word, normalise, passages, words

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
    "here concise brief short summary summaries key main core information passage article text document points "
    "point provided following below covering cover pieces piece described based given here's of the a an in is "
    "are as from on for and with that this it its there some important details requested contents include "
    "includes follow follows".split()
)
_CHATTING = frozenset(
    "sure certainly course absolutely okay ok i'd i'll i'm i you your happy glad help provide providing to be "
    "would can will let me know if like any more anything else need have questions by please thanks thank hope "
    "helps hello hi hey dear welcome greetings good great nice lovely wonderful day morning afternoon evening "
    "question asking bye goodbye feel free ask contact reach out may assist assistance don't hesitate best kind "
    "regards wishes".split()
)
_GREETING = frozenset("hello hi hey dear".split())
_LONGEST_GREETING = 5
"""Words up to which a greeting may have names in it: "Dear Ms Weber,"."""
_POINTING = frozenset("here here's following".split())
"""Words of an announcement that point to what comes next, as a colon at its end does."""
_LONGEST_MARKER = 3
"""Characters of a list marker such as "12."."""
_FRAME_REACH = 7
"""Words within which a sentence's opening frame ends."""


class Filler(Enum):
    """A sentence that claims nothing of its own."""

    ANNOUNCEMENT = "it announces what follows and claims nothing"
    COURTESY = "it speaks to the reader and claims nothing"
    MARKER = "it is a list marker"
    FRAGMENT = "it is a single word and no statement"


_CLAIMS_NOTHING = SUPPORTED
"""Support of a sentence that claims nothing: no reason to reject what it stands beside."""
_NO_SENTENCE = 0.3
"""Support of a summary's sentence of a single word."""
_NOTHING_SAID = 0.2
"""Support where no sentence of a response claims anything: a summary was announced and never given."""


def fillers(claims: Claims) -> list[Judgement | None]:
    """For each sentence the judgement of one that claims nothing; None where it is to be held against the reference.

    In an answer a single word or figure may be all that was asked for. Where the reference claims nothing either,
    nothing is missing.
    """
    if claims.kind not in {ClaimKind.SUMMARY, ClaimKind.ANSWER}:
        return [None] * len(claims.sentences)
    found = [filler(sentence) for sentence in claims.sentences]
    if claims.kind is ClaimKind.ANSWER:
        found = [kind if kind in {Filler.ANNOUNCEMENT, Filler.COURTESY} else None for kind in found]
    if all(found) and any(filler(passage) is None for passage in passages(claims.reference)):
        return [Judgement(_NOTHING_SAID, kind.value, None) for kind in found if kind]
    return [
        kind and Judgement(_NO_SENTENCE if kind is Filler.FRAGMENT else _CLAIMS_NOTHING, kind.value, None)
        for kind in found
    ]


def filler(sentence: str) -> Filler | None:
    """Which kind of filler a sentence is made of, from closed lists of words; None where it may claim something."""
    found = [word.surface for word in words(normalise(sentence))]
    lowered = [word.lower() for word in found]
    if not lowered:
        return None
    if _greets(found):
        return Filler.COURTESY
    if len(lowered) == 1 and lowered[0].isdigit() and 1 < len(sentence.strip()) <= _LONGEST_MARKER:
        return Filler.MARKER
    if len(lowered) == 1 and sentence.rstrip().endswith("."):
        return Filler.FRAGMENT
    if all(word in _ANNOUNCING for word in lowered):
        announces = sentence.rstrip().endswith(":") or any(word in _POINTING for word in lowered)
        return Filler.ANNOUNCEMENT if announces else None
    chats = lowered[0] in _CHATTING and all(word in _ANNOUNCING or word in _CHATTING for word in lowered)
    return Filler.COURTESY if chats and len(lowered) > 1 else None


def _greets(found: Sequence[str]) -> bool:
    if found[0].lower() not in _GREETING or len(found) > _LONGEST_GREETING:
        return False
    return all(word[0].isupper() or word.lower() in _CHATTING | {"there"} for word in found)


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
