"""The model behind an endpoint in all three roles; its answers are kept, so that a run goes on where it stopped."""

import argparse
import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from assay.config import Configuration, load_configuration
from assay.kept_answers import KeptAnswers, KeptModel
from benchmarks.asked import patient
from checkers.checker import CheckerSettings, Models
from checkers.model_patience import ModelPatience
from lab.report import Report
from lab.runs import Run
from models.build import build_judge
from models.judges.prompted import PromptedJudge
from models.settings import SubjectSettings

_HOURS = 4 * 3600.0
"""Deadline of a check: a server of two cores is slow."""

MakeRun = Callable[[Configuration, Models], Run[Any, Any]]


@contextmanager
def asked(options: argparse.Namespace) -> Iterator[Models]:
    """The model in its three roles; the subject is called as the model is."""
    judge = build_judge(patient(options))
    assert isinstance(judge, PromptedJudge)  # noqa: S101 -- of this backend
    options.keep.parent.mkdir(parents=True, exist_ok=True)
    with closing(KeptAnswers(options.keep)) as kept:
        model = KeptModel(judge.model, kept, "model")
        subjects = {options.model: model}
        yield Models(judge=judge.through(model), writer=model, subjects=subjects, record_seconds=_HOURS)


def configured(options: argparse.Namespace, **checkers: CheckerSettings) -> Configuration:
    """The configuration of a run of the laboratory: this model as judge and only subject, and checkers' settings."""
    judge = patient(options)
    shared = judge.model_dump(include=SubjectSettings.model_fields.keys() & judge.model_fields_set)
    subjects = {options.model: SubjectSettings.model_validate(shared)}
    return replace(load_configuration(), judge=judge, subjects=subjects, checkers=checkers)


def figures(run: Run[Any, Any]) -> Report:
    """The figures of a run of the laboratory, one item after the other: an endpoint then has its prefix cached."""
    results: list[BaseModel] = []

    async def run_over() -> None:
        await run.over(results.append, ModelPatience(print), window=1)
        await run.close()

    asyncio.run(run_over())
    return run.figures(results)
