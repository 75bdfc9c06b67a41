"""The extraction checker whose subject stands behind an endpoint: requests, cost and replay."""

from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from assay.testing import ScriptedJudge
from checkers.checker import Models
from checkers.extraction import PLUGIN
from checkers.extraction.checker import ExtractionChecker
from models.build import build_model
from models.settings import SubjectSettings
from schemas import Extraction, Verdict
from tests.checkers.extraction.setting import ENTITIES, TEXT, evidence_of, extracting, in_some_texts, places
from tests.support.stub_endpoint import StubEndpoint


class TestEndpoints:
    """Real HTTP on loopback."""

    @pytest.fixture
    def stub(self) -> Iterator[StubEndpoint]:
        with StubEndpoint(answer=extracting(places)) as endpoint:
            yield endpoint

    async def verdict(self, checking: Mapping[str, object] | None = None, **settings) -> Verdict:
        """By a checker with the settings `checking`, of a subject with the others."""
        subject = build_model(SubjectSettings.model_validate(settings), section="subjects.extractor")
        models = Models(judge=ScriptedJudge(), subjects={"extractor": subject})
        checker = ExtractionChecker(PLUGIN.settings.model_validate(checking or {}), models)
        record = Extraction(
            kind="extraction",
            id="r",
            source="s",
            model="extractor",
            text=TEXT,
            entities=ENTITIES,
            prompt="You keep the register of a removal firm.",
        )
        try:
            return await checker.check(record)
        finally:
            await subject.close()

    async def test_a_language_model_is_asked_under_its_applications_prompt(self, stub):
        verdict = await self.verdict(base_url=stub.base_url, model="m", temperature=0.7)
        assert verdict.outcome == "accept"
        asked = [request.texts["text"] for request in stub.requests]
        assert asked[0] == TEXT
        assert set(Counter(asked).values()) == {6}
        assert len(asked) == verdict.usage.calls == evidence_of(verdict).answers
        assert {request.texts["prompt"] for request in stub.requests} == {"You keep the register of a removal firm."}

    async def test_a_language_model_without_a_temperature_is_asked_once_about_each_text(self, stub):
        verdict = await self.verdict(base_url=stub.base_url, model="m")
        evidence = evidence_of(verdict)
        assert (verdict.outcome, evidence.tests, evidence.repeats) == ("accept", 10, 1)
        asked = [request.texts["text"] for request in stub.requests]
        assert verdict.usage.calls == len(asked) == len(set(asked)) + 2
        assert asked.count(TEXT) == 3

    async def test_the_fast_schedule_goes_on_from_the_answers_that_it_has(self, stub):
        stub.answer = extracting(in_some_texts(lambda text: places(text)[:2]))
        verdict = await self.verdict(base_url=stub.base_url, model="m", temperature=1)
        assert verdict.outcome == "reject"
        # By the numbers of those that it has, the cache would answer in place of the model.
        assert len(stub.requests) == evidence_of(verdict).answers
