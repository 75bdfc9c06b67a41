"""FAISS within the process."""

import faiss
import numpy as np
import pytest

from lab.audit.stores.address import read_address
from lab.audit.stores.store import StoreFailed
from tests.support.stores import StorePromises, opened


class TestFlat(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "faiss:flat"


class TestGraph(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "faiss:hnsw"


def test_flat_is_what_it_is_without_a_word():
    assert read_address("faiss:").index == "flat"


def test_the_vectors_that_it_is_given_stay_as_they_are():
    vectors = np.array([[3, 4], [30, 40]], dtype=np.float32)
    before = vectors.copy()
    with opened("faiss:", dimension=2) as store:
        store.nearest(vectors, vectors[0])
    assert (vectors == before).all()


def test_what_it_cannot_compare_is_told():
    # Both are zero in one dimension: the metric divides zero by zero there.
    vectors = np.array([[0, 1], [0, 2]], dtype=np.float32)
    told = "cannot compare them by lance_williams"
    with pytest.raises(StoreFailed, match=told), opened("faiss:", "lance_williams", dimension=2) as store:
        store.nearest(vectors, vectors[0])


def test_its_threads_are_given_back():
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(2)
    try:
        with opened("faiss:", dimension=2):
            assert faiss.omp_get_max_threads() == 1
        assert faiss.omp_get_max_threads() == 2
    finally:
        faiss.omp_set_num_threads(before)
