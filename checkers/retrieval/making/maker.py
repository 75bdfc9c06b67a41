"""Triplets from a user's own texts: negatives by rule or judge, positives by the judge, a gate behind both."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from checkers.concurrent import gather_or_cancel
from checkers.draws import generator, seed_of
from checkers.oracle.protocol import Oracle, OracleFailed
from checkers.retrieval.making.judged import Writer
from checkers.retrieval.making.rules import negative
from checkers.retrieval.relations import Relation
from checkers.retrieval.triplets import Triplet

Missing = Literal["no_place", "judge_failed", "refused"]
"""Why there is no triplet: the text offers no place for a safe change, the judge gave no usable answer, or its gate
found the triplet bad."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one text under one relation."""

    relation: Relation
    triplet: Triplet | None
    missing: Missing | None = None
    detail: str = ""
    """The judge's words, where it was asked and there is no triplet."""


async def make_triplets(
    texts: Iterable[str],
    relations: Sequence[Relation],
    judge: Oracle,
    *,
    seed: int = 0,
    gate: bool = True,
    concurrency: int = 16,
) -> AsyncIterator[Attempt]:
    """An attempt for every text and relation, in that order; `concurrency` of them are under way at once.

    The same texts, relations and seed give the same negatives by rule. `judge` must be one that writes: the local one
    compares only, and fails here.

    Raises:
        OracleUnavailable: the judge's endpoint is down.
    """
    writer = Writer(judge)
    pending = ((text, relation) for text in texts for relation in relations)
    while batch := list(islice(pending, concurrency)):
        for attempt in await gather_or_cancel(
            _attempt(writer, text, relation, seed, gate=gate) for text, relation in batch
        ):
            yield attempt


def by_rule(text: str, relation: Relation, seed: int) -> str | None:
    """The negative that this seed makes; None where the text offers no place for it.

    Raises:
        KeyError: there is no rule for the relation, it is one of sentences.
    """
    return negative(text, relation, generator(seed_of(seed, relation, text), "negative"))


async def _attempt(writer: Writer, text: str, relation: Relation, seed: int, *, gate: bool) -> Attempt:
    try:
        return await _made(writer, text, relation, seed, gate=gate)
    except OracleFailed as error:
        return Attempt(relation, None, "judge_failed", error.detail)


async def _made(writer: Writer, text: str, relation: Relation, seed: int, *, gate: bool) -> Attempt:
    if relation == "inference_error":
        pair = await writer.inference(text)
        positive, worse = pair.positive, pair.negative
    elif relation == "back_translation_error":
        positive, worse = await writer.positive(text), await writer.back_translation(text)
    else:
        made = by_rule(text, relation, seed)
        if made is None:
            return Attempt(relation, None, "no_place")
        positive, worse = await writer.positive(text), made
    name = f"{relation}-{seed_of(seed, relation, text)[:12]}"
    triplet = Triplet(name, relation, text, positive, worse)
    fault = await writer.fault(triplet) if gate else None
    return Attempt(relation, triplet) if fault is None else Attempt(relation, None, "refused", fault)
