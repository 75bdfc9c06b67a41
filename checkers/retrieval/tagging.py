"""Which relation two texts that do not entail each other stand in: the paper's Algorithm 1, and its section 3.3.

Read more widely than printed where its meaning is plain. Words are compared without punctuation and a/an. Several
words may be replaced if all are of one class; a replaced phrase counts as its class (a pronoun by a noun phrase); what
merely agrees with a replaced word (was, were; an article) is no difference of its own. In one place of a sentence
stands one class of words: where two words of unlike classes replace each other, the class is that of the word which
fits its neighbours better. Negation is each word that grammar knows to negate, and a quantifier a number, in digits
(also within a word: 3D) or in letters, or such a word as "most".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from checkers.retrieval.relations import Relation
from checkers.retrieval.words import Span, Words, differing, forms_of, same_word, words_of_both
from models.text.closed_class import CLOSED_CLASS, DO, QUANTIFIERS
from models.text.lexicon import lexicon
from models.text.negation import NEGATORS
from models.text.tagger import read_words
from schemas import WordDifference

_RELATIONS: dict[str, Relation] = {
    "CD": "quantifier_substitution",
    "NN": "object_substitution",
    "PR": "object_substitution",
    "JJ": "negative_expression",
    "RB": "negative_expression",
    "VB": "action_substitution",
}
"""By the first two letters of a Penn Treebank tag."""

_NOMINAL = frozenset({"DT", "PD", "PR", "JJ", "NN", "CD", "PO", "IN", "CC"})
_VERBAL = frozenset({"VB", "MD", "RB", "RP", "TO"})
# The paper's regular expression; also within a word (3D, 1787-92).
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Said for each other as grammar asks: some, and under a negation any.
_EXCHANGED = frozenset({"a", "the", "some", "any"})

# A negation is at most this many words (no longer), besides the auxiliary that it asks for (did not).
_NEGATION_WORDS = 2
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


def tag(query: str, matched: str) -> Tag:
    """Name the relation of two texts, taking for granted that one of them does not entail the other."""
    one, other = words_of_both(query, matched)
    if one.keys == other.keys or not one.keys or not other.keys:
        return Tag("other", ())
    spans = differing(one, other)
    if sorted(one.keys) == sorted(other.keys):
        return Tag("word_swap", tuple(_moved(span, one, other) for span in spans if span.start < span.end))
    weighty = [span for span in spans if not _agrees(span, one, other)] or spans
    relation = _word_level(weighty, one, other) or _sentence_level(one, other)
    return Tag(relation, tuple(_difference(span, one, other) for span in weighty))


def _agrees(span: Span, one: Words, other: Words) -> bool:
    if not span.single:
        return False
    words = one.keys[span.start], other.keys[span.other_start]
    return same_word(*words) or _EXCHANGED.issuperset(words)


def _word_level(spans: list[Span], one: Words, other: Words) -> Relation | None:
    if _negates(spans, one, other):
        return "negative_expression"
    if all(span.start == span.end for span in spans) or all(span.other_start == span.other_end for span in spans):
        return "word_deletion"
    if not all(span.replaced for span in spans):
        return None
    changed = max(
        sum(span.end - span.start for span in spans), sum(span.other_end - span.other_start for span in spans)
    )
    if changed * 2 > max(len(one), len(other)):
        return None
    # The same word replaced by the same word in several places is one substitution: the first place tells.
    once = {
        (one.keys[span.start : span.end], other.keys[span.other_start : span.other_end]): span for span in spans[::-1]
    }
    relations = set(_replaced([*once.values()], one, other))
    return relations.pop() if len(relations) == 1 else None


def _negates(spans: list[Span], one: Words, other: Words) -> bool:
    """True if all that one text has and the other has not is a negation."""
    words = [key for span in spans for key in one.keys[span.start : span.end]]
    others = [key for span in spans for key in other.keys[span.other_start : span.other_end]]
    if NEGATORS.isdisjoint(words) == NEGATORS.isdisjoint(others):
        return False
    negation, instead = (others, words) if NEGATORS.isdisjoint(words) else (words, others)
    return len(set(instead)) <= 1 and sum(word not in DO for word in negation) <= _NEGATION_WORDS


def _replaced(spans: list[Span], one: Words, other: Words) -> Iterator[Relation | None]:
    here, there = read_words(one.tokens), read_words(other.tokens)
    instead = {one.places[span.start]: other.tokens[other.places[span.other_start]] for span in spans if span.single}
    with_others = read_words([instead.get(at, token) for at, token in enumerate(one.tokens)])
    better = here if here.fit >= with_others.fit else with_others
    for span in spans:
        if span.single:
            words = one.keys[span.start], other.keys[span.other_start]
            place_tag = better.tags[one.places[span.start]]
            yield _of_pair(*words, "JJ" if place_tag == "NN" and _likelier_adjectives(*words) else place_tag)
        else:
            yield _of_phrases(
                {here.tags[one.places[at]][:2] for at in range(span.start, span.end)},
                {there.tags[other.places[at]][:2] for at in range(span.other_start, span.other_end)},
            )


def _likelier_adjectives(*words: str) -> bool:
    """True if each word is commoner as an adjective than as a noun: a neighbour that is unknown misleads the tagger."""
    counts = [lexicon().senses(word) for word in words]
    return all(one.get("a", 0) > one.get("n", 0) for one in counts)


def _of_pair(word: str, other: str, place_tag: str) -> Relation | None:
    if _NUMBER.sub("0", word) == _NUMBER.sub("0", other) or QUANTIFIERS.issuperset((word, other)):
        return "quantifier_substitution"
    return _RELATIONS.get(place_tag[:2])


def _of_phrases(tags: set[str], others: set[str]) -> Relation | None:
    if all(_NOMINAL.issuperset(side) and side & {"NN", "PR"} for side in (tags, others)):
        return "object_substitution"
    if all(_VERBAL.issuperset(side) and "VB" in side for side in (tags, others)):
        return "action_substitution"
    return None


def _sentence_level(one: Words, other: Words) -> Relation:
    keywords, others = _keywords(one), _keywords(other)
    if not keywords or not others:
        return "other"
    shorter, longer = sorted((keywords, others), key=len)
    held = forms_of(longer)
    shared = sum(not held.isdisjoint(forms_of([word])) for word in shorter)
    similar = min(len(one), len(other)) >= _SIMILAR_LENGTH * max(len(one), len(other))
    if similar and shared >= _SHARED_KEYWORDS * len(longer):
        return "back_translation_error"
    return "inference_error" if shared >= _LOCALISED_KEYWORDS * len(shorter) else "other"


def _keywords(words: Words) -> set[str]:
    return {key for key in words.keys if key not in CLOSED_CLASS}


def _moved(span: Span, one: Words, other: Words) -> WordDifference:
    return WordDifference(
        kind="moved",
        query=one.written(span.start, span.end),
        matched=other.written(span.other_start, span.other_end),
    )


def _difference(span: Span, one: Words, other: Words) -> WordDifference:
    here, there = one.written(span.start, span.end), other.written(span.other_start, span.other_end)
    kind = "replaced" if span.replaced else "removed" if here else "added"
    return WordDifference(kind=kind, query=here, matched=there)
