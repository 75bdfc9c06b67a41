"""The metamorphic relations by which two texts look alike and mean different things (paper, sections 3.2 and 3.3).

`relation_of` names the relation of two texts by the paper's Algorithm 1. Words are compared without case, punctuation
and a/an. No tagger is asked: the class of a replaced word is told by the words of grammar next to it, or by an ending.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, get_args

from checkers.closed_class import CLOSED_CLASS, DO, NEGATORS, QUANTIFIERS
from models.local.tokens import stem, tokens

Relation = Literal[
    "word_swap",
    "object_substitution",
    "action_substitution",
    "negative_expression",
    "word_deletion",
    "quantifier_substitution",
    "back_translation_error",
    "inference_error",
    "other",
]

RELATIONS: tuple[Relation, ...] = get_args(Relation)

WORD_LEVEL: tuple[Relation, ...] = RELATIONS[:6]
"""Those that change single words."""

# The paper's regular expression; also within a word (3D, 1787-92).
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LOOSE_HYPHEN = re.compile(r"\w\s+-\s+\w")
_SAME = {"an": "a", "n't": "not"}
# The words before a word of a class, and its endings.
_DETERMINING = frozenset(
    "a the this that these those some any no every each another my your his her its our their 's".split()
)
_PRONOUNS = frozenset(
    "i you he she it we they me him us them one someone somebody something anyone everyone everybody everything".split()
)
_BEFORE_VERBS = _PRONOUNS | frozenset(
    "to can could may might must shall should will would do does did not never who let also often always".split()
)
_BE = frozenset("am is are was were be been being 's 're".split())
_AUXILIARIES = _BE | {"have", "has", "had"}
_BEFORE_ADJECTIVES = frozenset("so very too more most less quite rather sorta".split())
_ADVERBS = frozenset("always often sometimes never".split())
_ADJECTIVE = re.compile(r"\w+(?:ful|ous|ive|[ai]ble|less|ish|ical|ic|al|ent|ant|ary|y)")
_VERB = re.compile(r"\w+(?:ed|ing|[iy][sz]e[sd]?|ify)")

# A negation has at most this many words (no longer), next to the auxiliary that it asks for (did not).
_NEGATION_WORDS = 2
# Words of one text times words of the other. Longer texts are not compared word by word: the time for it grows with the
# third power where the same few words come again and again.
_MOST_ALIGNED = 250_000
# Section 3.3 gives no numbers: close in length and the keywords basically the same (as fractions of the longer text and
# its keywords), or a claim that can be found in a context (as a fraction of the claim's keywords).
_SIMILAR_LENGTH = 2 / 3
_SHARED_KEYWORDS = 2 / 3
_LOCALISED_KEYWORDS = 1 / 2


class _Span(NamedTuple):
    """Words `start` to `end` of one text, in the place of `other_start` to `other_end` of the other."""

    start: int
    end: int
    other_start: int
    other_end: int

    @property
    def is_replaced(self) -> bool:
        return self.start < self.end and self.other_start < self.other_end


def relation_of(one: str, other: str) -> Relation:
    """The relation of two texts of which one does not entail the other; the same in both orders."""
    apart = any(_LOOSE_HYPHEN.search(text) for text in (one, other))
    words, others = _words(one, apart=apart), _words(other, apart=apart)
    if words == others or not words or not others:
        return "other"
    if sorted(words) == sorted(others):
        return "word_swap"
    return _word_level(_differing(words, others), words, others) or _sentence_level(words, others)


def _words(text: str, *, apart: bool) -> tuple[str, ...]:
    """The words of a text; cut at hyphens too if `apart`."""
    pieces = [token.text.split("-") if apart and token.text[0].isalnum() else [token.text] for token in tokens(text)]
    words = (word.lower() for parts in pieces for word in parts if any(map(str.isalnum, word)))
    return tuple(_SAME.get(word, word) for word in words)


def _differing(one: Sequence[str], other: Sequence[str]) -> list[_Span]:
    """The places where two texts differ, as small as possible: replaced words one against one."""
    if len(one) == len(other):
        at = [place for place in range(len(one)) if one[place] != other[place]]
        # As many words, and most in their places: none was moved.
        if len(at) * 2 <= len(one):
            return [_Span(place, place + 1, place, place + 1) for place in at]
    if (kept := _contained(one, other)) is not None:
        return kept
    if (kept := _contained(other, one)) is not None:
        return [_Span(span.other_start, span.other_end, span.start, span.end) for span in kept]
    if len(one) * len(other) > _MOST_ALIGNED:
        return [_Span(0, len(one), 0, len(other))]
    found = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [part for name, *span in found if name != "equal" for part in _singles(_Span(*span))]


def _contained(longer: Sequence[str], shorter: Sequence[str]) -> list[_Span] | None:
    """The further words of the longer text, if it holds all of the shorter one in order; else None."""
    spans: list[_Span] = []
    at = 0
    for place, word in enumerate([*shorter, None]):
        start = at
        while at < len(longer) and longer[at] != word:
            at += 1
        if at > start:
            spans.append(_Span(start, at, place, place))
        if at == len(longer) and word is not None:
            return None
        at += 1
    return spans


def _singles(span: _Span) -> list[_Span]:
    count = span.end - span.start
    if count != span.other_end - span.other_start:
        return [span]
    starts = ((span.start + k, span.other_start + k) for k in range(count))
    return [_Span(start, start + 1, other, other + 1) for start, other in starts]


def _word_level(spans: list[_Span], one: Sequence[str], other: Sequence[str]) -> Relation | None:
    if _negates(spans, one, other):
        return "negative_expression"
    if all(span.start == span.end for span in spans) or all(span.other_start == span.other_end for span in spans):
        return "word_deletion"
    changed = max(
        sum(span.end - span.start for span in spans), sum(span.other_end - span.other_start for span in spans)
    )
    if not all(span.is_replaced for span in spans) or changed * 2 > max(len(one), len(other)):
        return None
    # The same word replaced by the same word in several places is one substitution: the first place tells.
    once = {(tuple(one[it.start : it.end]), tuple(other[it.other_start : it.other_end])): it for it in spans[::-1]}
    relations = {_of_place(here, there, one, span.start) for (here, there), span in once.items()}
    return relations.pop() if len(relations) == 1 else None


def _negates(spans: list[_Span], one: Sequence[str], other: Sequence[str]) -> bool:
    """True if a negation is all that one text has and the other has not."""
    words = [key for span in spans for key in one[span.start : span.end]]
    others = [key for span in spans for key in other[span.other_start : span.other_end]]
    if NEGATORS.isdisjoint(words) == NEGATORS.isdisjoint(others):
        return False
    negation, instead = (others, words) if NEGATORS.isdisjoint(words) else (words, others)
    return len(set(instead)) <= 1 and sum(word not in DO for word in negation) <= _NEGATION_WORDS


def _of_place(here: Sequence[str], there: Sequence[str], words: Sequence[str], at: int) -> Relation | None:
    """The relation that the words replaced at a place make, if they are of one class."""
    pair = (*here, *there)
    if len(here) != 1 or len(there) != 1:
        return "object_substitution" if _nominal(here) and _nominal(there) else None
    if len({_NUMBER.sub("0", word.replace(",", "")) for word in pair}) == 1 or QUANTIFIERS.issuperset(pair):
        return "quantifier_substitution"
    before = words[at - 1] if at else ""
    behind = words[at + 1] if at + 1 < len(words) else ""
    adjectives, verbs = (any(map(ending.fullmatch, pair)) for ending in (_ADJECTIVE, _VERB))
    opens = behind not in CLOSED_CLASS | {""} and not _VERB.fullmatch(behind)
    by_place: list[tuple[bool, Relation]] = [
        (not _PRONOUNS.isdisjoint(pair), "object_substitution"),
        (before in _BEFORE_ADJECTIVES or not _ADVERBS.isdisjoint(pair), "negative_expression"),
        (all(word.endswith("ly") for word in pair), "negative_expression"),
        (before in _BEFORE_VERBS or not _AUXILIARIES.isdisjoint(pair), "action_substitution"),
        (before in _BE and not verbs, "negative_expression"),
        (before in _DETERMINING and opens and adjectives, "negative_expression"),
        (before not in _DETERMINING and (verbs or behind in _DETERMINING | _PRONOUNS), "action_substitution"),
    ]
    return next((relation for found, relation in by_place if found), "object_substitution")


def _nominal(words: Sequence[str]) -> bool:
    return words[0] in _DETERMINING or (len(words) == 1 and words[0] in _PRONOUNS)


def _sentence_level(one: Sequence[str], other: Sequence[str]) -> Relation:
    shorter, longer = sorted((_keywords(one), _keywords(other)), key=len)
    if not shorter:
        return "other"
    shared = len(shorter & longer)
    similar = min(len(one), len(other)) >= _SIMILAR_LENGTH * max(len(one), len(other))
    if similar and shared >= _SHARED_KEYWORDS * len(longer):
        return "back_translation_error"
    return "inference_error" if shared >= _LOCALISED_KEYWORDS * len(shorter) else "other"


def _keywords(words: Iterable[str]) -> set[str]:
    return {stem(word) for word in words if word not in CLOSED_CLASS}
