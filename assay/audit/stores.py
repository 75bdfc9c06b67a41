"""From the addresses of stores to figures: each sentence encoded once, then every store asked case by case."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from assay.audit.embedding_run import Model, encode_all
from assay.audit.source import Material
from assay.progress import progress
from checkers.retrieval.audit.cases import Figure
from checkers.retrieval.audit.embeddings import case_count, store_figures
from checkers.retrieval.audit.encoding import Encodings
from checkers.retrieval.audit.stores import Address, StoreMetric, open_store
from checkers.wording import plain


def check_stores(addresses: Sequence[Address], metrics: Sequence[StoreMetric], *, dimension: int = 2) -> None:
    """Ask every store about a case, so that what is wrong is told before any work is done.

    Some look at a key only when something is made.

    Raises:
        UnsupportedMetric: a store does not have one of the metrics.
        StoreExtraMissing: a store's library is not installed.
        StoreFailed: a store is not there, or refused.
    """
    for address in addresses:
        for metric in metrics:
            with open_store(address, metric=metric, dimension=dimension) as store:
                vector = np.ones(dimension, dtype=np.float32)
                store.nearest(vector[None, :], vector)


def audit_stores(
    addresses: Sequence[Address], model: Model, material: Material, metrics: Sequence[StoreMetric]
) -> list[Figure]:
    """Figures for every store, metric and relation, in that order.

    Raises:
        ModelUnusable: the model gives no vectors.
        EndpointAway: the endpoint of the model is down.
        StoreFailed: a store went away, or refused.
    """
    encodings = encode_all(model, material)
    found: list[Figure] = []
    for address in addresses:
        for metric in metrics:
            found.extend(_asked(address, encodings, material, metric))
    return found


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Meanwhile SIGTERM ends the program as Ctrl-C does, so that nothing of ours stays in a store."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _asked(address: Address, encodings: Encodings, material: Material, metric: StoreMetric) -> list[Figure]:
    total, done = case_count(material.groups), 0
    with (
        open_store(address, metric=metric, dimension=encodings.vectors.shape[1]) as store,
        progress(bar=sys.stderr.isatty(), total=total) as shown,
    ):

        def told() -> None:
            nonlocal done
            done += 1
            shown.at(done, f"{plain(address.shown)} by {metric}: {done} of {total} cases")

        return list(store_figures(address.shown, store, metric, encodings, material.groups, on_case=told))
