"""Similarity: one pass a sentence, the vectors of its phrases pooled from it."""

import numpy as np
import pytest

from checkers.equivalence.phrases import Phrases, phrases
from checkers.equivalence.similarity import PhraseEncoder, pooled, similarities
from tests.checkers.equivalence.plain_trees import tree_of

CHEF = "(S (NP (DT The) (JJ young) (NN chef)) (VP (VBD opened) (NP (DT a) (JJ small) (NN bakery))) (. .))"
COOK = "(S (NP (DT The) (JJ young) (NN cook)) (VP (VBD opened) (NP (DT a) (JJ little) (NN bakery))) (. .))"


@pytest.fixture(scope="module")
def encoder() -> PhraseEncoder:
    encoder = PhraseEncoder()
    encoder.load()
    return encoder


def read(text: str) -> Phrases:
    return phrases(tree_of(text))


def node(found: Phrases, text: str) -> int:
    return next(place for place in range(len(found)) if found.text(place) == text)


class TestPooling:
    def test_a_phrase_is_the_mean_of_its_words_without_the_marks(self) -> None:
        found = read("(S (NP (DT the) (, ,) (NN mill)) (VP (VBD stood) (RB still)) (. .))")
        words = np.eye(4, dtype=np.float32)
        vectors = pooled(found, words)
        assert vectors.shape == (len(found), 4)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        assert np.allclose(vectors[node(found, "the , mill")], np.array([1, 1, 0, 0]) / np.sqrt(2), atol=1e-6)
        assert np.allclose(vectors[node(found, "still")], [0, 0, 0, 1], atol=1e-6)
        assert np.allclose(vectors[0], 0.5, atol=1e-6)

    def test_every_pair_of_nodes_has_its_cosine(self) -> None:
        first = np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)
        second = np.array([[0.0, 1.0]], dtype=np.float32)
        assert np.allclose(similarities(first, second), [[0.0], [0.8]])


class TestTheModel:
    def test_a_phrase_is_most_like_what_says_the_same(self, encoder: PhraseEncoder) -> None:
        chef, cook = read(CHEF), read(COOK)
        found = similarities(*encoder.encode([chef, cook]))
        for mine, theirs in (
            ("The young chef", "The young cook"),
            ("opened a small bakery", "opened a little bakery"),
            ("chef", "cook"),
        ):
            assert cook.text(int(found[node(chef, mine)].argmax())) == theirs
