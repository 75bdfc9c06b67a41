"""A judge behind the stub endpoint, in one form, and claims for it."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from models.build import build_judge
from models.judges.prompted import PromptedJudge
from models.protocol import Claims, Judgement
from models.settings import JudgeSettings
from tests.support.stub_endpoint import StubEndpoint

MakeJudge = Callable[..., PromptedJudge]

PASSAGES = "The board met on Monday. It approved the budget. Nobody objected. Ada Moss took the chair."
GOOD = "The board approved the budget."
FALSE = "The chairman resigned afterwards."


@pytest.fixture
async def judge_of(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeJudge]:
    """Builds the judge from its settings."""
    monkeypatch.setattr("models.flow._ATTEMPTS", 2)
    built: list[PromptedJudge] = []

    def build(form: str = "short", threshold: float | None = 0.0, **settings: Any) -> PromptedJudge:
        endpoint = {"backend": "openai", "base_url": stub.base_url, "model": "m", "timeout_seconds": 30}
        given = {**endpoint, "form": form, "threshold": threshold, **settings}
        judge = build_judge(JudgeSettings.model_validate(given))
        assert isinstance(judge, PromptedJudge)
        built.append(judge)
        return judge

    yield build
    for judge in built:
        await judge.close()


async def graded(judge: PromptedJudge, *sentences: str, prompt: str | None = None, **fields: Any) -> list[Judgement]:
    """The grades of an answer's sentences, or of a summary's."""
    claims = {"reference": PASSAGES, "kind": "answer" if prompt else "summary", "prompt": prompt, **fields}
    ((*grades,),) = (await judge.grade("t", [Claims(sentences=sentences, **claims)])).reply
    return list(grades)
