"""The relation between two texts that do not entail each other: the paper's Algorithm 1, and its section 3.3.

Words are compared without case, punctuation and a/an. Several words may be replaced if all are of one class. No tagger
is asked: the class of a replaced word is told by the words of grammar beside it, or by an ending.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from checkers.retrieval.relations import Relation
from models.closed_class import CLOSED_CLASS, DO, NEGATORS, QUANTIFIERS
from models.tokens import stem, tokens
from schemas import WordDifference

# The paper's regular expression; also within a word (3D, 1787-92).
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LOOSE_HYPHEN = re.compile(r"\w\s+-\s+\w")
_SAME = {"an": "a", "n't": "not"}
# What stands before a word of a class, and how words of it end.
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

# A negation is at most this many words (no longer), besides the auxiliary that it asks for (did not).
_NEGATION_WORDS = 2
# Words of one text times words of the other. What is longer is not told apart word by word: the time for it grows with
# the third power where the same few words come again and again.
_MOST_ALIGNED = 250_000
# Section 3.3 gives no numbers: close in length and the keywords basically the same (as shares of the longer text and
# its keywords), or a claim that can be found in a context (as a share of the claim's keywords).
_SIMILAR_LENGTH = 2 / 3
_SHARED_KEYWORDS = 2 / 3
_LOCALISED_KEYWORDS = 1 / 2


@dataclass(frozen=True, slots=True)
class Tag:
    """The relation between two texts, and the words by which they differ."""

    relation: Relation
    differences: tuple[WordDifference, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in order: as written, and what each is compared by."""

    written: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Words `start` to `end` of one text that stand where the other has `other_start` to `other_end`."""

    start: int
    end: int
    other_start: int
    other_end: int

    @property
    def replaced(self) -> bool:
        """True if both sides have words here."""
        return self.start < self.end and self.other_start < self.other_end

    @property
    def single(self) -> bool:
        """True if one word stands against one."""
        return self.end - self.start == 1 and self.other_end - self.other_start == 1


def tag(query: str, matched: str) -> Tag:
    """Name the relation of two texts, taking for granted that one of them does not entail the other."""
    apart = any(_LOOSE_HYPHEN.search(text) for text in (query, matched))
    one, other = words_of(query, apart=apart), words_of(matched, apart=apart)
    if one.keys == other.keys or not one.keys or not other.keys:
        return Tag("other", ())
    spans = differing(one.keys, other.keys)
    if sorted(one.keys) == sorted(other.keys):
        moved = [span for span in spans if span.start < span.end]
        return Tag("word_swap", tuple(_difference(span, one, other, moved=True) for span in moved))
    relation = _word_level(spans, one, other) or _sentence_level(one.keys, other.keys)
    return Tag(relation, tuple(_difference(span, one, other) for span in spans))


def words_of(text: str, *, apart: bool = False) -> Words:
    """Cut a text into words; at hyphens too if `apart`."""
    pieces = [token.text.split("-") if apart and token.text[0].isalnum() else [token.text] for token in tokens(text)]
    written = tuple(word for parts in pieces for word in parts if any(map(str.isalnum, word)))
    return Words(written, tuple(_SAME.get(word.lower(), word.lower()) for word in written))


def differing(one: Sequence[str], other: Sequence[str]) -> list[Span]:
    """The places where two texts differ, as small as they can be made: replaced words stand one against one."""
    if len(one) == len(other):
        at = [place for place in range(len(one)) if one[place] != other[place]]
        # As many words, and most in their places: none was moved.
        if len(at) * 2 <= len(one):
            return [Span(place, place + 1, place, place + 1) for place in at]
    if (kept := _contained(one, other)) is not None:
        return kept
    if (kept := _contained(other, one)) is not None:
        return [Span(span.other_start, span.other_end, span.start, span.end) for span in kept]
    if len(one) * len(other) > _MOST_ALIGNED:
        return [Span(0, len(one), 0, len(other))]
    found = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [part for name, *span in found if name != "equal" for part in _singles(Span(*span))]


def _contained(longer: Sequence[str], shorter: Sequence[str]) -> list[Span] | None:
    """The words that the longer text has besides, if it holds all of the shorter one in order; else None."""
    spans: list[Span] = []
    at = 0
    for place, word in enumerate([*shorter, None]):
        start = at
        while at < len(longer) and longer[at] != word:
            at += 1
        if at > start:
            spans.append(Span(start, at, place, place))
        if at == len(longer) and word is not None:
            return None
        at += 1
    return spans


def _singles(span: Span) -> list[Span]:
    if span.end - span.start != span.other_end - span.other_start:
        return [span]
    return [Span(span.start + k, span.start + k + 1, span.other_start + k, span.other_start + k + 1)
            for k in range(span.end - span.start)]  # fmt: skip


def _word_level(spans: list[Span], one: Words, other: Words) -> Relation | None:
    if _negates(spans, one.keys, other.keys):
        return "negative_expression"
    if all(span.start == span.end for span in spans) or all(span.other_start == span.other_end for span in spans):
        return "word_deletion"
    changed = max(
        sum(span.end - span.start for span in spans), sum(span.other_end - span.other_start for span in spans)
    )
    if not all(span.replaced for span in spans) or changed * 2 > max(len(one.keys), len(other.keys)):
        return None
    # The same word replaced by the same word in several places is one substitution: the first place tells.
    once = {(one.keys[it.start : it.end], other.keys[it.other_start : it.other_end]): it for it in spans[::-1]}
    relations = {_of_place(span, one, other) for span in once.values()}
    return relations.pop() if len(relations) == 1 else None


def _negates(spans: list[Span], one: Sequence[str], other: Sequence[str]) -> bool:
    """True if all that one text has and the other has not is a negation."""
    words = [key for span in spans for key in one[span.start : span.end]]
    others = [key for span in spans for key in other[span.other_start : span.other_end]]
    if NEGATORS.isdisjoint(words) == NEGATORS.isdisjoint(others):
        return False
    negation, instead = (others, words) if NEGATORS.isdisjoint(words) else (words, others)
    return len(set(instead)) <= 1 and sum(word not in DO for word in negation) <= _NEGATION_WORDS


def _of_place(span: Span, one: Words, other: Words) -> Relation | None:
    """The relation that the words replaced at a place make, if they are of one class."""
    here, there = one.keys[span.start : span.end], other.keys[span.other_start : span.other_end]
    if not span.single:
        return "object_substitution" if _nominal(here) and _nominal(there) else None
    if len({_NUMBER.sub("0", word.replace(",", "")) for word in here + there}) == 1 or QUANTIFIERS.issuperset(
        here + there
    ):
        return "quantifier_substitution"
    return _of_pair((*here, *there), one, span.start)


def _of_pair(pair: Sequence[str], words: Words, at: int) -> Relation:
    """The relation of two words that replace each other, by the class that their place asks for."""
    before = words.keys[at - 1] if at else ""
    behind = words.keys[at + 1] if at + 1 < len(words.keys) else ""
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


def _difference(span: Span, one: Words, other: Words, *, moved: bool = False) -> WordDifference:
    here, there = one.written[span.start : span.end], other.written[span.other_start : span.other_end]
    kind = "moved" if moved else "replaced" if span.replaced else "removed" if here else "added"
    return WordDifference(kind=kind, query=here, matched=there)
