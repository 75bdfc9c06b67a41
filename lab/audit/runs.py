"""From the names of models, stores and text matchers to figures, with the progress shown."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from assay.config import Configuration
from assay.progress import progress
from checkers.model_patience import ModelPatience
from checkers.retrieval.matching import TextFinding, TextMatcher
from checkers.wording import plain
from lab.audit.cases import CannotAudit, Figure, Metric
from lab.audit.encoding import Embedder, Encodings, EndpointModel, embedder, encoded
from lab.audit.measuring import case_count, embedding_figures, matcher_figures, sentences_of, store_figures
from lab.audit.source import AuditTriplets
from lab.audit.stores.address import Address, StoreMetric
from lab.audit.stores.store import open_store
from models.build import build_judge
from models.protocol import ModelFailed
from models.settings import EndpointSettings, JudgeSettings


def audit_models(
    names: Sequence[str], endpoint: EndpointSettings, triplets: AuditTriplets, metrics: Sequence[Metric]
) -> Iterator[Figure]:
    """Figures for every model, relation and metric, in that order; one model is in memory at a time.

    Raises:
        CannotAudit: a model cannot be loaded, or gives no vectors.
        AuditFailed: the endpoint of one is down.
    """
    for name in names:
        model = embedder(name, endpoint)
        yield from list(embedding_figures(model.name, _encoded(model, triplets), triplets.groups, metrics))


def check_stores(addresses: Sequence[Address], metrics: Sequence[StoreMetric], *, dimension: int = 2) -> None:
    """Ask every store about one case, so that what is wrong shows before any work is done.

    Raises:
        CannotAudit: a store does not have one of the metrics, or its library is not installed.
        AuditFailed: a store is not there, or refused.
    """
    vector = np.ones(dimension, dtype=np.float32)
    for address in addresses:
        for metric in metrics:
            with open_store(address, metric=metric, dimension=dimension) as store:
                store.nearest(vector[None, :], vector)


def audit_stores(
    addresses: Sequence[Address], model: Embedder, triplets: AuditTriplets, metrics: Sequence[StoreMetric]
) -> Iterator[Figure]:
    """Figures for every store, metric and relation, in that order; each sentence is encoded once.

    Raises:
        CannotAudit: the model gives no vectors.
        AuditFailed: the endpoint of the model is down, or a store went away, or refused.
    """
    encodings = _encoded(model, triplets)
    for address in addresses:
        for metric in metrics:
            title, total = f"{plain(address.shown)} by {metric}", case_count(triplets.groups)
            with (
                open_store(address, metric=metric, dimension=encodings.vectors.shape[1]) as store,
                _counted(title, total, "cases") as (_, count),
            ):
                yield from list(
                    store_figures(address.shown, store, metric, encodings, triplets.groups, on_case=lambda: count(1))
                )


async def audit_matcher(name: str, triplets: AuditTriplets, configured: Configuration) -> list[Figure]:
    """Figures for every relation and order, in that order, of the configured judge or the local one.

    Raises:
        CannotAudit: the matcher decided nothing, or a template of the configuration cannot be used.
        ModelLost: its model was away for too long.
    """
    judge = build_judge(configured.judge if name == "judge" else JudgeSettings())
    title, total = plain(judge.name), sum(len(group) for group in triplets.groups.values())
    slots = asyncio.Semaphore(configured.judge.concurrency)
    failures: list[str] = []
    try:
        matcher = TextMatcher(judge)
        with _counted(title, total, "triplets") as (say, count):
            patience = ModelPatience(say)

            async def compare(base: str, texts: list[str]) -> Sequence[TextFinding] | None:
                async with slots:
                    try:
                        return await patience.until_answered(lambda: matcher.compare("knowledge", base, texts))
                    except ModelFailed as error:
                        failures.append(error.detail)
                        return None
                    finally:
                        count(1)

            found = await matcher_figures(judge.name, triplets.groups, compare)
            if not found:
                raise CannotAudit(f"{title} decided no triplet: {plain(failures[0])}")
            if failures:
                say(f"{title}: {len(failures)} of {total} triplets undecided, first: {plain(failures[0])}")
            return found
    finally:
        await judge.close()


def _encoded(model: Embedder, triplets: AuditTriplets) -> Encodings:
    """The vectors of all sentences that an audit needs."""
    sentences, title = set(sentences_of(triplets.groups)), plain(model.name)
    with _counted(title, len(sentences), "sentences") as (say, count):
        found = encoded(model, sentences_of(triplets.groups), count)
        if isinstance(model, EndpointModel):
            say(f"{title}: {model.calls} calls, {model.tokens} tokens")
    return found


@contextmanager
def _counted(title: str, total: int, things: str) -> Iterator[tuple[Callable[[str], None], Callable[[int], None]]]:
    """Show the progress; yields what prints a line, and what is told how many things more are done."""
    with progress(total) as shown:
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            shown.at(done, f"{title}: {done} of {total} {things}")

        yield shown.say, count
