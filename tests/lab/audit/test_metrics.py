"""The seven distances, held against scipy's and against what a distance must be."""

import numpy as np
import pytest
import scipy

from lab.audit.cases import METRICS, Metric
from lab.audit.embedding import unit
from lab.audit.measuring import Floats, distances, whitening_of

SECOND_OPINION = {
    "cosine": "cosine",
    "euclidean": "euclidean",
    "manhattan": "cityblock",
    "pearson": "correlation",
    "bray_curtis": "braycurtis",
    "lance_williams": "canberra",
}


def normal(rows: int, dimensions: int, seed: int = 1) -> Floats:
    return unit(np.random.default_rng(seed).normal(size=(rows, dimensions)))


@pytest.mark.parametrize("metric", SECOND_OPINION)
def test_as_scipy_has_it(metric: Metric) -> None:
    one, other = normal(50, 12), normal(50, 12, seed=2)
    other_program = getattr(scipy.spatial.distance, SECOND_OPINION[metric])
    expected = [other_program(a, b) for a, b in zip(one, other, strict=True)]
    assert distances(metric, one, other) == pytest.approx(np.array(expected), rel=1e-9)


@pytest.mark.parametrize("dimensions", [5, 30])
def test_mahalanobis_as_scipy_has_it_with_the_pseudo_inverse(dimensions: int) -> None:
    rows = normal(20, dimensions)
    inverse = np.linalg.pinv(np.cov(rows.T), hermitian=True)
    expected = [scipy.spatial.distance.mahalanobis(a, b, inverse) for a, b in zip(rows, rows[::-1], strict=True)]
    whitening = whitening_of(rows)
    found = distances("mahalanobis", rows, rows[::-1], whitening)
    assert found == pytest.approx(np.array(expected), rel=1e-6)


def test_rows_without_direction_give_numbers_all_the_same() -> None:
    one, other = unit(np.zeros((1, 4))), unit(np.array([[1.0, 1.0, 1.0, 1.0]]))
    assert [float(distances(metric, one, one)[0]) for metric in METRICS[:-1]] == [0, 0, 0, 1, 0, 0]
    assert np.isfinite([distances(metric, one, other) for metric in METRICS[:-1]]).all()


def test_the_same_vector_twice_is_the_same_distance_to_the_last_bit() -> None:
    base, twice = normal(40, 64), normal(40, 64, seed=2)
    for metric in METRICS:
        whitening = whitening_of(np.concatenate([base, twice]))
        one = distances(metric, base, twice, whitening)
        assert (one == distances(metric, base, twice.copy(), whitening)).all()
