"""Judges by name with their real weights, from the Hugging Face hub."""

from collections.abc import Callable, Iterator

import click
import pytest

from models.build import fetch_models
from models.grounding.catalogue import named_judge
from models.grounding.judge import GroundingJudge
from models.model_loading import ModelUnusable
from models.settings import JudgeSettings, LocalSettings

LoadJudge = Callable[[str], GroundingJudge]


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
                fetch_models(JudgeSettings(local=settings), say)
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


def say(message: str) -> None:
    click.echo(message, err=True)
