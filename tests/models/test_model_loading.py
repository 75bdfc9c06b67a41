"""Models of this process are loaded once, whoever needs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from models.local.encoder import bundled_model, encode
from models.model_loading import ModelUnusable, sentence_transformer

TEXT = "The parcel left Leipzig on Monday."


def test_the_gist_of_a_sentence_is_the_vector_that_the_model_was_trained_for():
    texts = [TEXT, "Zoë’s café — 1,234.5 m² [SEP] 東京", "a", "The lamp is green and " * 20 + "old."]
    model = sentence_transformer(str(bundled_model()), local_files_only=True)
    trained = model.encode(texts, normalize_embeddings=True)
    assert all(
        gist @ other > 0.9999 for (_, gist), other in zip(encode([(t, []) for t in texts]), trained, strict=True)
    )


def test_the_judge_loads_without_the_slowest_libraries_and_its_threads_wait_without_spinning():
    code = (
        "import sys; from models.local.judge import BundledJudge; BundledJudge().load()\n"
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


def test_a_model_that_is_not_there_is_named_in_one_line(tmp_path: Path):
    with pytest.raises(ModelUnusable, match="nowhere' cannot be loaded") as failure:
        sentence_transformer(str(tmp_path / "nowhere"), local_files_only=True)
    assert "\n" not in str(failure.value)
