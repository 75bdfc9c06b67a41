"""Annoy and hnswlib, which are built with a C++ compiler when they are installed."""

import pytest

from tests.support.stores import StorePromises


class TestAnnoy(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "annoy:"


class TestHnswlib(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "hnswlib:"
