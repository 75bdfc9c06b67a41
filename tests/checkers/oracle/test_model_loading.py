"""Models of this process are loaded once, whoever needs them."""

from pathlib import Path

import numpy as np
import pytest

from checkers.equivalence.similarity import PhraseEncoder
from checkers.oracle.local.encoder import Encoder
from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.model_loading import ModelUnusable, sentence_transformer
from checkers.text.words import words

TEXT = "The parcel left Leipzig on Monday."


def test_judge_and_phrases_share_the_weights_and_read_layers_of_their_own() -> None:
    judge, phrases = Encoder(LocalSettings()), PhraseEncoder()._encoder
    texts = [(TEXT, words(TEXT))]
    first, last = judge.encode(texts)[0], phrases.encode(texts)[0]

    assert first.shape == last.shape
    assert not np.allclose(first, last, atol=0.01)
    assert _weights(judge) < _weights(phrases)
    assert np.array_equal(judge.encode(texts)[0], first)


def _weights(encoder: Encoder) -> set[int]:
    return {parameter.data_ptr() for parameter in encoder._parts().transformer.parameters()}


def test_a_model_that_is_not_there_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="nowhere' cannot be loaded") as failure:
        sentence_transformer(str(tmp_path / "nowhere"), local_files_only=True)
    assert "\n" not in str(failure.value)
