"""A place where only the checker `shouting` and our own are installed."""

from pathlib import Path

import pytest

from tests.assay.running import install_shouting


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with a third party's checker in it."""
    folder = tmp_path_factory.mktemp("site")
    install_shouting(folder)
    return folder
