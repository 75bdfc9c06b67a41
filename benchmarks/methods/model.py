"""The model behind an endpoint in all three roles; its answers are kept, so that a run goes on where it stopped."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager

from checkers.checker import Models
from lab.kept_answers import KeptAnswers, KeptModel
from models.build import build_judge
from models.judges.prompted import PromptedJudge
from models.settings import JudgeSettings

HOURS = 4 * 3600.0
"""Deadline of a check: a server of two cores is slow."""


@contextmanager
def asked(options: argparse.Namespace) -> Iterator[Models]:
    """The model in its three roles; the subject is called as the model is."""
    address = {"backend": "openai", "base_url": options.base_url, "model": options.model, "concurrency": 1}
    patient = {"timeout_seconds": 900, "deadline_seconds": 3600}
    judge = build_judge(JudgeSettings.model_validate({**address, **patient}))
    assert isinstance(judge, PromptedJudge)  # noqa: S101 -- of this backend
    options.keep.parent.mkdir(parents=True, exist_ok=True)
    with closing(KeptAnswers(options.keep)) as kept:
        model = KeptModel(judge.model, kept, "model")
        yield Models(judge=judge.through(model), writer=model, subjects={options.model: model})
