"""Models of this process are loaded once, whoever needs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from checkers.equivalence.similarity import PhraseEncoder
from models.local.encoder import Encoder, Stretch, bundled_model
from models.model_loading import ModelUnusable, sentence_transformer
from models.text.words import words

TEXT = "The parcel left Leipzig on Monday."


def test_judge_and_phrases_share_the_weights_and_read_layers_of_their_own() -> None:
    judge, phrases = Encoder(4096), PhraseEncoder()._encoder
    texts = [Stretch(TEXT, words(TEXT), 0, len(TEXT))]
    first, last = judge.encode(texts)[0], phrases.encode(texts)[0]

    assert first.words.shape == last.words.shape
    assert not np.allclose(first.words, last.words, atol=0.01)
    assert np.allclose(first.gist, last.gist, atol=1e-5)
    assert judge._parts().network is phrases._parts().network
    assert np.array_equal(judge.encode(texts)[0].words, first.words)


def test_the_gist_of_a_sentence_is_the_vector_that_the_model_was_trained_for() -> None:
    texts = [TEXT, "Zoë’s café — 1,234.5 m² [SEP] 東京", "a", "The lamp is green and " * 20 + "old."]
    readings = Encoder(4096).encode([Stretch(text, words(text), 0, len(text)) for text in texts])
    model = sentence_transformer(str(bundled_model()), local_files_only=True)
    assert np.allclose([one.gist for one in readings], model.encode(texts, normalize_embeddings=True), atol=1e-5)


def test_the_judge_loads_without_the_slowest_libraries_and_its_threads_wait_without_spinning() -> None:
    code = (
        "import sys; from models.local import EmbeddingJudge; EmbeddingJudge().load()\n"
        "print({'transformers', 'sentence_transformers', 'sklearn', 'scipy', 'sympy'} & set(sys.modules))"
    )
    variables = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=variables | {"OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "set()"
    assert not re.search("GOMP_SPINCOUNT = '[1-9]", found.stderr)


def test_a_model_that_is_not_there_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="nowhere' cannot be loaded") as failure:
        sentence_transformer(str(tmp_path / "nowhere"), local_files_only=True)
    assert "\n" not in str(failure.value)
