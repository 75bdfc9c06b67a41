"""Triplets from a user's own texts: negatives by rule or judge, positives by the judge, a gate behind both."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from checkers.draws import generator, seed_of
from checkers.model_patience import ModelPatience
from checkers.retrieval.relations import Relation
from lab.edits.rules import RULES, by_rule
from lab.edits.writer import TripletWriter
from lab.triplets import Triplet
from models.concurrent import gather_or_cancel
from models.protocol import Model, ModelFailed

Missing = Literal["no_place", "judge_failed", "refused"]
"""Why there is no triplet: the text offers no place for a safe change, the judge gave no usable answer, or its gate
found the triplet bad."""


@dataclass(frozen=True, slots=True)
class TripletAttempt:
    """The outcome of one text under one relation."""

    relation: Relation
    triplet: Triplet | None
    missing: Missing | None = None
    detail: str = ""
    """The judge's words, if it was asked and there is no triplet."""


async def make_triplets(
    texts: Iterable[str],
    relations: Sequence[Relation],
    judge: Model,
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

    async def attempt(text: str, relation: Relation) -> TripletAttempt:
        try:
            return await patience.until_answered(lambda: _made(writer, text, relation, seed, gate=gate))
        except ModelFailed as error:
            return TripletAttempt(relation, None, "judge_failed", error.detail)

    pending = ((text, relation) for text in texts for relation in relations)
    while batch := list(islice(pending, concurrency)):
        for done in await gather_or_cancel(attempt(*one) for one in batch):
            yield done


async def _made(writer: TripletWriter, text: str, relation: Relation, seed: int, *, gate: bool) -> TripletAttempt:
    drawn = seed_of(seed, relation, text)
    if relation == "inference_error":
        positive, negative = await writer.inference(text)
    elif relation in RULES:
        made = by_rule(text, relation, generator(drawn, "negative"))
        if made is None:
            return TripletAttempt(relation, None, "no_place")
        positive, negative = await writer.positive(text), made
    else:
        positive, negative = await writer.positive(text), await writer.negative(text, relation)
    triplet = Triplet(f"{relation}-{drawn[:12]}", relation, text, positive, negative)
    fault = await writer.fault(triplet) if gate else None
    return TripletAttempt(relation, triplet) if fault is None else TripletAttempt(relation, None, "refused", fault)
