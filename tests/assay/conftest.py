"""A place where only the checker `shouting` and our own are installed, and no variable configures anything."""

import os
from pathlib import Path

import pytest

from tests.assay.running import install_shouting


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with a third party's checker in it."""
    folder = tmp_path_factory.mktemp("site")
    install_shouting(folder)
    return folder


@pytest.fixture
def unconfigured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no ASSAY_ variables."""
    for name in list(os.environ):
        if name.startswith("ASSAY_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path
