"""The model behind an endpoint in all three roles; its answers are kept, so that a run goes on where it stopped."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager

from benchmarks.asked import patient
from checkers.checker import Models
from lab.runs import KeptAnswers, KeptModel
from models.build import build_judge
from models.judges.prompted import PromptedJudge

HOURS = 4 * 3600.0
"""Deadline of a check: a server of two cores is slow."""


@contextmanager
def asked(options: argparse.Namespace) -> Iterator[Models]:
    """The model in its three roles; the subject is called as the model is."""
    judge = build_judge(patient(options))
    assert isinstance(judge, PromptedJudge)  # noqa: S101 -- of this backend
    options.keep.parent.mkdir(parents=True, exist_ok=True)
    with closing(KeptAnswers(options.keep)) as kept:
        model = KeptModel(judge.model, kept, "model")
        yield Models(judge=judge.through(model), writer=model, subjects={options.model: model})
