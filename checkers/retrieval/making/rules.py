"""The rules by relation: how a text becomes one that looks the same and says something else (method page, triplets)."""

from collections.abc import Callable, Iterator, Mapping
from random import Random

from checkers.retrieval.making.actions import actions
from checkers.retrieval.making.deletion import deletions
from checkers.retrieval.making.negation import negations
from checkers.retrieval.making.numbers import numbers
from checkers.retrieval.making.objects import objects
from checkers.retrieval.making.sentences import MOST_WORDS, Sentence, sentence_of
from checkers.retrieval.making.swapping import swaps
from checkers.retrieval.relations import Relation
from checkers.retrieval.tagging import tag

Rule = Callable[[Sentence, Random], Iterator[str]]

RULES: Mapping[Relation, Rule] = {
    "word_swap": swaps,
    "object_substitution": objects,
    "action_substitution": actions,
    "negative_expression": negations,
    "word_deletion": deletions,
    "quantifier_substitution": numbers,
}
"""The six word-level relations."""


def negative(text: str, relation: Relation, random: Random) -> str | None:
    """A text that differs from `text` by the relation; None where it offers no place for a safe change.

    What the tagging would call something else is passed over: a negative is of no use under a wrong name.
    """
    sentence = sentence_of(text)
    if len(sentence.words) > MOST_WORDS:
        return None
    return next((made for made in RULES[relation](sentence, random) if tag(text, made).relation == relation), None)
