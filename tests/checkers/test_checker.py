"""The base class's promises to every checker."""

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from assay import (
    OPERATIONAL,
    Checker,
    CheckerSettings,
    Decision,
    Envelope,
    Generation,
    Models,
    Paraphrase,
    Retrieval,
    Undecidable,
)
from assay.testing import ScriptedJudge, check
from models.meter import MeteredJudge
from models.protocol import Claims, Judge, ModelFailed, ModelUnavailable
from schemas import RECORD_KINDS
from tests.checkers.case import cause_of

RECORD = {"kind": "generation", "response": "Paris."}


class Inner(BaseModel):
    weighty: int = 1
    free: Annotated[int, OPERATIONAL] = 1


class Settings(CheckerSettings):
    weighty: int = 1
    free: Annotated[int, OPERATIONAL] = 1
    inner: Inner = Inner()


class Asking(Checker[Settings]):
    name = "asking"

    async def decide(self, record: Generation) -> Decision:
        claims = [Claims("Paris is in France.", (record.response,), "summary")]  # type: ignore[arg-type]  # as others do
        answers = await asyncio.gather(*(self.judge.grade("t", claims) for _ in range(self.settings.weighty)))
        return Decision(accepted=all(answer.reply[0][0].supported for answer in answers), reason="Asked.")


class Raising(Checker[CheckerSettings]):
    name = "raising"

    def __init__(self, settings: CheckerSettings, models: Models) -> None:
        super().__init__(settings, models)
        self.raises: BaseException = RuntimeError("never set")

    async def decide(self, record: Generation) -> Decision:
        raise self.raises


def raising(error: BaseException) -> Raising:
    checker = Raising(CheckerSettings(), Models(judge=ScriptedJudge(name="judge")))
    checker.raises = error
    return checker


def record() -> Generation:
    return Generation(kind="generation", id="g-1", source="s", model="m", response="Paris.")


class TestKinds:
    def test_they_are_those_of_the_records_annotation(self):
        class Both(Checker[CheckerSettings]):
            async def decide(self, record: Paraphrase | Retrieval) -> Decision:
                raise AssertionError(record)

        class EveryKind(Checker[CheckerSettings]):
            async def decide(self, record: Envelope) -> Decision:
                raise AssertionError(record)

        assert set(RECORD_KINDS) == EveryKind.kinds
        assert Asking.kinds == {"generation"}
        assert Both.kinds == {"paraphrase", "retrieval"}

    def test_a_record_without_a_type_is_refused_where_the_class_is_made(self):
        with pytest.raises(TypeError, match="must be annotated with the record types"):

            class Untold(Checker[CheckerSettings]):
                async def decide(self, record) -> Decision:  # type: ignore[no-untyped-def]
                    raise AssertionError(record)

    async def test_a_record_of_another_kind_is_an_error(self):
        other = Paraphrase(kind="paraphrase", source="s", model="m", sentence1="a", sentence2="b", answer=True)
        with pytest.raises(TypeError, match="takes generation, not paraphrase"):
            await raising(RuntimeError()).check(other)


class TestTheDigest:
    def digest(self, **settings: Any) -> str:
        return Asking(Settings.model_validate(settings), Models(judge=ScriptedJudge())).config_digest

    def test_every_setting_but_the_operational_ones_changes_it(self):
        for free in ({"free": 2}, {"inner": {"free": 2}}):
            assert self.digest(**free) == self.digest()
        for weighty in ({"weighty": 2}, {"inner": {"weighty": 2}}):
            assert self.digest(**weighty) != self.digest()

    def test_the_judge_the_version_and_the_fingerprint_change_it(self):
        class Newer(Asking):
            version = "2"

        class Reading(Asking):
            def fingerprint(self) -> str:
                return "rubric 7"

        judge = Models(judge=ScriptedJudge())
        made = [kind(Settings(), judge).config_digest for kind in (Asking, Newer, Reading)]
        other = Asking(Settings(), Models(judge=ScriptedJudge(name="another"))).config_digest
        assert len({*made, other}) == 4


class Short(Checker[CheckerSettings]):
    name = "short"
    asks_judge = False

    async def decide(self, record: Generation) -> Decision:
        return Decision(accepted=len(record.response) < 9, reason="Counted.")


class TestWhatIsNeeded:
    @pytest.mark.parametrize("judge", [None, ScriptedJudge(), ScriptedJudge(name="another")])
    async def test_who_needs_no_judge_has_the_same_ids_with_any_and_with_none(self, judge: Judge | None):
        verdict = await Short(CheckerSettings(), Models(judge=judge)).check(record())
        assert (verdict.outcome, verdict.judge) == ("accept", "none")
        assert verdict.config_digest == "e059c254cc07946b"

    def test_others_do_not_start_without(self):
        with pytest.raises(ValueError, match="the checker asking needs a judge, and there is none"):
            Asking(Settings(), Models())


class TestTheVerdict:
    def test_what_was_asked_at_the_same_time_is_on_one_bill(self):
        verdict = check(Asking, RECORD, judge=ScriptedJudge(1.0, 1.0), weighty=2)
        assert (verdict.outcome, verdict.score, verdict.usage.calls) == ("accept", 1.0, 2)

    def test_what_was_asked_in_vain_is_billed_too(self):
        verdict = check(Asking, RECORD, judge=ScriptedJudge(1.0), weighty=2)
        assert (verdict.outcome, verdict.usage.calls, verdict.judge) == ("abstain", 1, "scripted")

    async def test_checks_side_by_side_have_bills_of_their_own(self):
        judge = MeteredJudge(ScriptedJudge(*[1.0] * 6), cached=False)
        checkers = [Asking(Settings(weighty=count), Models(judge=judge)) for count in (1, 2, 3)]
        verdicts = await asyncio.gather(*(checker.check(record()) for checker in checkers))
        assert [verdict.usage.calls for verdict in verdicts] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("error", "cause"),
        [
            (Undecidable("no_reference", "nothing to hold it against"), "no_reference"),
            (ModelFailed("nonsense", cause="judge_unusable"), "judge_unusable"),
        ],
    )
    async def test_what_cannot_be_decided_abstains_with_its_cause(self, error: Exception, cause: str):
        verdict = await raising(error).check(record())
        assert cause_of(verdict) == cause

    def test_its_reason_names_a_field_that_is_nearly_a_known_one(self):
        misspelt = {"id": "g", "context": ["Paris is in France."]}
        noted = " Note: the record has the unknown field 'context' (did you mean 'contexts'?)."
        plain, decided = (check(Asking, RECORD | more, judge=ScriptedJudge(1.0)) for more in ({"id": "g"}, misspelt))
        undecided = check(Asking, RECORD | misspelt)
        assert (decided.id, decided.outcome, decided.reason) == (plain.id, "accept", plain.reason + noted)
        assert (undecided.outcome, undecided.reason.endswith("." + noted)) == ("abstain", True)

    @pytest.mark.parametrize(
        "error", [ModelUnavailable("down", retry_after=1), ValueError("a fault"), TimeoutError("somebody else's")]
    )
    async def test_an_outage_and_a_fault_are_no_verdict(self, error: Exception):
        with pytest.raises(type(error)):
            await raising(error).check(record())

    async def test_a_check_that_takes_too_long_abstains_and_names_its_limit(self):
        class Endless(Raising):
            name = "endless"

            async def decide(self, record: Generation) -> Decision:
                await asyncio.Event().wait()
                raise AssertionError(record)

        checker = Endless(CheckerSettings(), Models(judge=ScriptedJudge(), record_seconds=0.05))
        verdict = await checker.check(record())
        assert cause_of(verdict) == "timeout"
        assert "no decision within 0.05 s" in verdict.reason

    async def test_an_abstention_from_outside_has_the_id_of_the_checks_verdict(self):
        checker = raising(Undecidable("no_reference", "x"))
        outside = checker.abstain(record(), "budget", "the budget of today is spent")
        inside = await checker.check(record())
        assert (outside.id, outside.judge) == (inside.id, inside.judge)
        assert cause_of(outside) == "budget"
