"""Promises of every store to an audit; a test class inherits it and says where its store is."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.cli.common import CannotRun
from lab.audit.measuring import Vectors
from lab.audit.stores import STORES, Store, StoreMetric, open_store
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from lab.audit.stores import Nearest

_CASES = 4
_CLEAR = 1e-3
"""Distances that differ by less, as a share, are no case: stores round in different places."""


def distances(metric: StoreMetric, one: Vectors, others: Vectors) -> "np.ndarray":
    """The distances that the metric's definition gives, shape (count of others); smaller is nearer."""
    a, b = one.astype(np.float64), others.astype(np.float64)
    match metric:
        case "cosine":
            return 1 - (b @ a) / (np.linalg.norm(a) * np.linalg.norm(b, axis=1))
        case "euclidean":
            return np.linalg.norm(b - a, axis=1)
        case "manhattan":
            return np.abs(b - a).sum(axis=1)
        case "inner_product":
            return -(b @ a)
        case "bray_curtis":
            return np.abs(b - a).sum(axis=1) / np.abs(b + a).sum(axis=1)
        case "lance_williams":
            return (np.abs(b - a) / (np.abs(b) + np.abs(a))).sum(axis=1)


def cases(metric: StoreMetric, seed: int, dimension: int) -> list[Vectors]:
    """Base and two candidates of all lengths, shape (3, dimension) each, one candidate clearly nearer."""
    rng = np.random.default_rng(seed)
    drawn: list[Vectors] = []
    while len(drawn) < _CASES:
        base = rng.normal(size=dimension)
        others = base + rng.normal(size=(2, dimension))
        scaled = np.vstack([base, others * rng.uniform(0.2, 3.0, size=(2, 1))]).astype(np.float32)
        nearer, further = sorted(distances(metric, scaled[0], scaled[1:]))
        if further - nearer > _CLEAR * max(abs(nearer), abs(further)):
            drawn.append(scaled)
    return drawn


@contextlib.contextmanager
def opened(url: str, metric: StoreMetric = "cosine", dimension: int = 4) -> "Iterator[Nearest]":
    """The store at an address."""
    with open_store(url, metric=metric, dimension=dimension) as nearest:
        yield nearest


def kind(url: str) -> Store:
    """What is known of the kind of store at an address."""
    return next(one for one in STORES if url.partition("://")[0] == one.form.partition("://")[0])


class StorePromises:
    """Inherited by a class a store, which adds a fixture `url`: the store's address."""

    examples = 2
    """Seeds and dimensions to try; more where a case takes no time."""

    @pytest.fixture
    def contents(self, url: str) -> object:
        """Tells what is in the store, read by other means than the adapter's."""
        return lambda: None

    def test_the_nearest_is_the_one_that_the_metric_says(self, url):
        seen = set()

        @settings(max_examples=self.examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(seed=st.integers(0, 2**32 - 1), dimension=st.integers(2, 400))
        def holds(seed: int, dimension: int) -> None:
            for metric in kind(url).spaces:
                with opened(url, metric, dimension) as nearest:
                    for base, *others in cases(metric, seed, dimension):
                        candidates = np.array(others)
                        right = int(np.argmin(distances(metric, base, candidates)))
                        assert nearest(candidates, base) == right
                        seen.add(right)

        holds()
        assert seen == {0, 1}

    def test_of_one_it_is_that_one_and_of_two_alike_either(self, url):
        base = np.array([1, 2, 3, 4], dtype=np.float32)
        for metric in kind(url).spaces:
            with opened(url, metric) as nearest:
                assert nearest(base[None, ::-1], base) == 0
                assert nearest(np.stack([base, base]), base) in (0, 1)

    def test_a_case_sees_nothing_of_those_before_it(self, url):
        base = np.array([1, 0, 0, 0], dtype=np.float32)
        far = np.array([[0, 1, 0, 0], [0.1, 0.9, 0.3, 0]], dtype=np.float32)
        with opened(url) as nearest:
            for _ in range(5):
                assert nearest(np.stack([base, base]), base) in (0, 1)
                assert nearest(far, base) == 1

    def test_nothing_is_left_and_what_was_there_is_as_it_was(self, url, contents):
        before = contents()
        base = np.array([1, 2, 3, 4], dtype=np.float32)
        with opened(url) as nearest:
            for _ in range(3):
                nearest(np.stack([base, base]), base)
        # A server drops the temporary tables of a session that has ended in its own time.
        wait_until(lambda: contents() == before, lambda: (contents(), before))

    def test_nothing_is_left_after_an_error_and_the_store_goes_on(self, url, contents):
        before = contents()
        base = np.array([1, 2, 3, 4], dtype=np.float32)
        with opened(url) as nearest:
            for _ in range(2):
                # The candidates are in the store when it sees that the query does not go with them.
                with pytest.raises(Exception):  # noqa: B017, PT011
                    nearest(np.stack([base, -base]), base[:3])
            assert nearest(np.stack([-base, base]), base) == 1
        with pytest.raises(KeyboardInterrupt), opened(url):
            raise KeyboardInterrupt
        wait_until(lambda: contents() == before, lambda: (contents(), before))

    def test_a_metric_that_it_lacks_is_refused_with_those_that_it_has(self, url):
        engine = kind(url)
        lacking = {"cosine", "euclidean", "manhattan", "inner_product", "bray_curtis", "lance_williams", "pearson"}
        for metric in lacking - set(engine.spaces):
            with pytest.raises(CannotRun) as raised, opened(url, metric):
                pass
            assert f"{engine.name} does not compare by {metric}; it has cosine, euclidean" in str(raised.value)
