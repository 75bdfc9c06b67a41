"""Triplets from a user's own texts: negatives by rule or judge, positives by the judge, a gate behind both."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Literal

from checkers.draws import generator, seed_of
from checkers.patience import ModelPatience
from checkers.retrieval.relations import Relation
from checkers.retrieval.tagging import tag
from lab.edits.deletion import deletions
from lab.edits.negation import negations
from lab.edits.numbers import numbers
from lab.edits.sentence import MOST_WORDS, TaggedSentence, sentence_of
from lab.edits.substitution import actions, objects
from lab.edits.swap import swaps
from lab.edits.writer import TripletWriter
from lab.triplets import Triplet
from models.concurrent import gather_or_cancel
from models.protocol import Oracle, OracleFailed

RULES: Mapping[Relation, Callable[[TaggedSentence, Random], Iterator[str]]] = {
    "word_swap": swaps,
    "object_substitution": objects,
    "action_substitution": actions,
    "negative_expression": negations,
    "word_deletion": deletions,
    "quantifier_substitution": numbers,
}
"""How the six word-level relations turn a text into one that looks the same and says something else."""

Missing = Literal["no_place", "judge_failed", "refused"]
"""Why there is no triplet: the text offers no place for a safe change, the judge gave no usable answer, or its gate
found the triplet bad."""


@dataclass(frozen=True, slots=True)
class TripletAttempt:
    """What came of one text under one relation."""

    relation: Relation
    triplet: Triplet | None
    missing: Missing | None = None
    detail: str = ""
    """The judge's words, if it was asked and there is no triplet."""


async def make_triplets(
    texts: Iterable[str],
    relations: Sequence[Relation],
    judge: Oracle,
    patience: ModelPatience,
    *,
    seed: int = 0,
    gate: bool = True,
    concurrency: int = 16,
) -> AsyncIterator[TripletAttempt]:
    """An attempt for every text and relation, in that order; `concurrency` of them are under way at once.

    The same texts, relations and seed give the same negatives by rule. `judge` must be one that writes: the local one
    compares only, and fails here.

    Raises:
        ModelLost: the judge was away for longer than the patience.
    """
    writer = TripletWriter(judge)
    pending = ((text, relation) for text in texts for relation in relations)
    while batch := list(islice(pending, concurrency)):
        for attempt in await gather_or_cancel(
            _attempt(writer, patience, text, relation, seed, gate=gate) for text, relation in batch
        ):
            yield attempt


def by_rule(text: str, relation: Relation, seed: int) -> str | None:
    """The negative that this seed makes; None if the text offers no place for a safe change.

    Raises:
        KeyError: there is no rule for the relation, it is one of sentences.
    """
    # What the tagging would call something else is passed over: a negative is of no use under a wrong name.
    return next((made for made in _changed(text, relation, seed) if tag(text, made).relation == relation), None)


def first_change(text: str, relation: Relation, seed: int) -> str | None:
    """The same before the tagging is asked."""
    return next(_changed(text, relation, seed), None)


def _changed(text: str, relation: Relation, seed: int) -> Iterator[str]:
    sentence = sentence_of(text)
    if len(sentence.words) > MOST_WORDS:
        return iter(())
    return RULES[relation](sentence, generator(seed_of(seed, relation, text), "negative"))


async def _attempt(
    writer: TripletWriter, patience: ModelPatience, text: str, relation: Relation, seed: int, *, gate: bool
) -> TripletAttempt:
    try:
        return await patience.until_answered(lambda: _made(writer, text, relation, seed, gate=gate))
    except OracleFailed as error:
        return TripletAttempt(relation, None, "judge_failed", error.detail)


async def _made(writer: TripletWriter, text: str, relation: Relation, seed: int, *, gate: bool) -> TripletAttempt:
    if relation == "inference_error":
        positive, negative = await writer.inference(text)
    elif relation == "back_translation_error":
        positive, negative = await writer.positive(text), await writer.back_translation(text)
    else:
        made = by_rule(text, relation, seed)
        if made is None:
            return TripletAttempt(relation, None, "no_place")
        positive, negative = await writer.positive(text), made
    name = f"{relation}-{seed_of(seed, relation, text)[:12]}"
    triplet = Triplet(name, relation, text, positive, negative)
    fault = await writer.fault(triplet) if gate else None
    return TripletAttempt(relation, triplet) if fault is None else TripletAttempt(relation, None, "refused", fault)
