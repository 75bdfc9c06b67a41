"""Judges by name with their real weights, from the Hugging Face hub."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from models.grounding.catalogue import named_judge
from models.grounding.judge import GroundingJudge
from models.local_grader import fetch
from models.local_settings import LocalSettings
from models.model_loading import ModelUnusable

LoadJudge = Callable[[str], GroundingJudge]

DATA_VARIABLE = "ASSAY_TEST_DATA"

collect_ignore = [] if os.environ.get(DATA_VARIABLE) else ["test_balanced_accuracy.py"]


def pytest_configure() -> None:
    folder = os.environ.get(DATA_VARIABLE)
    if folder and not Path(folder).is_dir():
        raise pytest.UsageError(f"{folder}: there is no such folder of data sets")


def pytest_report_header() -> str:
    folder = os.environ.get(DATA_VARIABLE)
    if folder:
        return f"data sets for balanced accuracies: {folder}"
    return "without balanced accuracies, which need data sets: make test-models DATA=folder"


@pytest.fixture(scope="session")
def judge_by_name() -> Iterator[LoadJudge]:
    """The judge of a name, with its weights; a test that cannot have them fails and says why."""
    loaded: dict[str, GroundingJudge] = {}
    faults: dict[str, str] = {}

    def load(name: str) -> GroundingJudge:
        if name not in loaded:
            if name in faults:
                pytest.fail(faults[name], pytrace=False)
            settings = LocalSettings(judge=name)
            judge = GroundingJudge(named_judge(name), say=say)
            try:
                fetch(settings, say)
            except ModelUnusable as error:
                faults[name] = f"{name} was not tested, as its weights cannot be had: {error}"
                pytest.fail(faults[name], pytrace=False)
            judge.load()
            # One at a time: three of them want 6 GB.
            loaded.clear()
            loaded[name] = judge
        return loaded[name]

    yield load
    loaded.clear()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the public data sets that `make test-models DATA=folder` names."""
    return Path(os.environ[DATA_VARIABLE])


def say(message: str) -> None:
    click.echo(message, err=True)
