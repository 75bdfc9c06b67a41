"""What the tests of the retrieval checker share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def imported_library() -> None:
    """The cross-encoders' library is there: on a busy machine its import alone may outlast a question's patience."""
    import sentence_transformers  # noqa: F401


@pytest.fixture
def unconfigured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no ASSAY_ variables."""
    for name in list(os.environ):
        if name.startswith("ASSAY_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path
