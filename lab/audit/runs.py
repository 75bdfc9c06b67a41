"""From the names of models, stores and text matchers to figures, with the progress shown."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from assay.config import Configuration
from assay.progress import Progress, progress
from checkers.patience import ModelPatience
from checkers.retrieval.cross_encoder import cross_encoder_grader
from checkers.retrieval.matching import TextMatcher
from checkers.retrieval.settings import RetrievalSettings
from checkers.wording import plain
from lab.audit.cases import CannotAudit, Figure, Metric
from lab.audit.embeddings import case_count, embedding_figures, sentences_of, store_figures
from lab.audit.encoding import Encodings, EndpointModel, SentenceTransformerModel, encoded
from lab.audit.matchers import TripletMatch, match_triplet, matcher_figures
from lab.audit.source import AuditTriplets
from lab.audit.stores.address import Address, StoreMetric
from lab.audit.stores.store import open_store
from lab.triplets import Triplet
from models.build import build_oracle, built_grader
from models.concurrent import gather_or_cancel
from models.protocol import Judge, OracleFailed
from models.settings import EndpointSettings, JudgeSettings

MATCHERS = "judge (the configured one), local (the local judge) or cross-encoder:NAME"

_Model = SentenceTransformerModel | EndpointModel


class EmbeddingModels:
    """Embedding models by name; one is in memory at a time."""

    def __init__(self, names: Sequence[str], endpoint: EndpointSettings) -> None:
        """Load each once: a wrong name shows before a judge is paid, or other models have worked for hours.

        `openai:NAME` is behind the endpoint.

        Raises:
            CannotAudit: a model cannot be loaded.
        """
        self.names = tuple(dict.fromkeys(names))
        self._endpoint = endpoint
        self._name = ""
        self._model: _Model | None = None
        # The first is the last to be loaded, and there when it is asked for.
        for name in reversed(self.names):
            self.get(name)

    def get(self, name: str) -> _Model:
        """The model of this name."""
        if self._model is None or self._name != name:
            self._model = None
            self._model, self._name = self._loaded(name), name
        return self._model

    def _loaded(self, name: str) -> _Model:
        kind, _, model = name.partition(":")
        return EndpointModel(model, self._endpoint) if kind == "openai" and model else SentenceTransformerModel(name)


def audit_models(models: EmbeddingModels, triplets: AuditTriplets, metrics: Sequence[Metric]) -> Iterator[Figure]:
    """Figures for every model, relation and metric, in that order.

    Raises:
        CannotAudit: a model gives no vectors.
        AuditFailed: the endpoint of one is down.
    """
    for name in models.names:
        model = models.get(name)
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
    addresses: Sequence[Address],
    model: _Model,
    triplets: AuditTriplets,
    metrics: Sequence[StoreMetric],
) -> Iterator[Figure]:
    """Figures for every store, metric and relation, in that order; each sentence is encoded once.

    Raises:
        CannotAudit: the model gives no vectors.
        AuditFailed: the endpoint of the model is down, or a store went away, or refused.
    """
    encodings = _encoded(model, triplets)
    total = case_count(triplets.groups)
    for address in addresses:
        for metric in metrics:
            with (
                open_store(address, metric=metric, dimension=encodings.vectors.shape[1]) as store,
                progress(total) as shown,
            ):
                on_case = _counter(shown, total, f"{plain(address.shown)} by {metric}", "cases")
                found = store_figures(address.shown, store, metric, encodings, triplets.groups, on_case=on_case)
                yield from list(found)


def check_matchers(names: Sequence[str]) -> None:
    """Raise CannotAudit if a name is not that of a matcher."""
    for name in names:
        kind, _, model = name.partition(":")
        if name not in ("judge", "local") and not (kind == "cross-encoder" and model):
            raise CannotAudit(f"--matcher {name!r}: allowed are {MATCHERS}")


async def audit_matcher(name: str, triplets: AuditTriplets, configured: Configuration) -> list[Figure]:
    """Figures for every relation and order, in that order.

    Raises:
        CannotAudit: the matcher decided nothing, or a template of the configuration cannot be used.
        ModelLost: its model was away for too long.
    """
    settings = configured.checkers.get("retrieval")
    kind, _, model = name.partition(":")
    judge: Judge
    if kind == "cross-encoder":
        judge = built_grader(cross_encoder_grader(model))
    else:
        judge = build_oracle(configured.judge if name == "judge" else JudgeSettings())
    try:
        try:
            matcher = TextMatcher(judge, settings.prompts if isinstance(settings, RetrievalSettings) else None)
        except ValueError as error:
            raise CannotAudit(str(error)) from None
        return await _matched_figures(judge.name, matcher, triplets, window=configured.judge.concurrency)
    finally:
        await judge.close()


async def _matched_figures(subject: str, matcher: TextMatcher, triplets: AuditTriplets, *, window: int) -> list[Figure]:
    """The figures of one matcher, with up to `window` triplets under way."""
    name, total = plain(subject), sum(len(group) for group in triplets.groups.values())
    slots = asyncio.Semaphore(window)
    failures: list[str] = []
    found: list[Figure] = []
    with progress(total) as shown:
        patience = ModelPatience(shown.say)
        count = _counter(shown, total, name, "triplets")

        async def match(group: Sequence[Triplet], place: int) -> TripletMatch | None:
            """None if the matcher gave no usable answer."""
            async with slots:
                try:
                    return await patience.until_answered(lambda: match_triplet(matcher, group, place))
                except OracleFailed as error:
                    failures.append(error.detail)
                    return None
                finally:
                    count()

        for relation, group in triplets.groups.items():
            answers = await gather_or_cancel(match(group, place) for place in range(len(group)))
            matches = [one for one in answers if one is not None]
            if matches:
                found.extend(matcher_figures(subject, relation, matches))
        if not found:
            raise CannotAudit(f"{name} decided no triplet: {plain(failures[0])}")
        if failures:
            shown.say(f"{name}: {len(failures)} of {total} triplets undecided, first: {plain(failures[0])}")
    return found


def _encoded(model: _Model, triplets: AuditTriplets) -> Encodings:
    """The vectors of all sentences that an audit needs."""
    total = len(set(sentences_of(triplets.groups)))
    name = plain(model.name)
    with progress(total) as shown:
        found = encoded(
            model,
            sentences_of(triplets.groups),
            lambda done: shown.at(done, f"{name}: {done} of {total} sentences"),
        )
        if isinstance(model, EndpointModel):
            shown.say(f"{name}: {model.calls} calls, {model.tokens} tokens")
    return found


def _counter(shown: Progress, total: int, name: str, things: str) -> Callable[[], None]:
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        shown.at(done, f"{name}: {done} of {total} {things}")

    return count
