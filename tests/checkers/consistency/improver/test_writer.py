"""What the writer is asked and what becomes of its answers; who it is."""

from typing import Any

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.improver.improver import ConsistencyImprover
from checkers.consistency.improver.rewriter import build_writer
from checkers.consistency.improver.settings import RewritingSettings
from checkers.consistency.settings import ConsistencySettings
from models.build import build_model
from models.protocol import ModelUnavailable
from models.settings import JudgeSettings
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.checkers.consistency.improver.conftest import FALSE, GOOD, MENDED, OTHER, MakeImprover, improved
from tests.support.attacks import ATTACKS
from tests.support.graders import grading
from tests.support.stub_acts import Act, nonsense, says, status
from tests.support.stub_answers import entries_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest
from tests.support.writer import asked, rewrites, writer_answer


async def test_the_writer_is_shown_everything_and_asked_for_what_is_inconsistent(
    checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
):
    checker = checker_of()
    await improved(checker, improver_of(checker), f"{GOOD} {FALSE}", prompt="What did they do?")
    (request,) = writer.requests
    assert request.fences["response"] == f"{GOOD} {FALSE}"
    assert request.fences["question"] == "What did they do?"
    assert request.reference == generation("").reference
    assert [(one["number"], one["sentence"]) for one in asked(request)] == [(1, FALSE)]
    assert asked(request)[0]["reason"] == "not in the reference"
    # A question makes it an answer.
    assert "Here is the answer." in request.body["messages"][1]["content"]
    assert "{{" not in str(request.body)


async def test_what_the_record_and_the_judge_say_stays_fenced(
    checker_of: MakeChecker, improver_of: MakeImprover, stub: StubEndpoint, writer: StubEndpoint
):
    def echo(request: StubRequest) -> Act:
        texts = request.reasons or request.sentences
        return says(
            entries_of((number, f"It says {text}", False) for number, text in zip(request.numbers, texts, strict=True))
        )

    stub.play(echo)
    checker = checker_of()
    improver = improver_of(checker, rounds=1)
    outside = set()
    for attack in ATTACKS:
        writer.requests.clear()
        verdict = await checker.check(attack)
        await improver.improve(attack, verdict)
        request = writer.requests[0]
        assert request.fences["response"] == attack.response
        assert request.reference == "\n\n".join([*attack.contexts, *filter(None, [attack.reference])])
        outside.add((attack.effective_task, _outside(request)))
    assert len(outside) == len({task for task, _ in outside})


def _outside(request: StubRequest) -> str:
    system, user = (message["content"] for message in request.body["messages"])
    for text in request.fences.values():
        user = user.replace(f"\n{text}\n", "\n")
    tag = user.partition("message is ")[2][:12]
    return f"{system}\n{user.replace(tag, 'TAG')}".replace(f"the {len(asked(request))} sentences", "the N sentences")


class TestEntriesThatDoNotFit:
    """What the writer's answer lacks is asked for once more, and then stays as it is."""

    @pytest.mark.parametrize(
        "entries",
        [
            [(1, MENDED)],
            [(1, MENDED), (3, "Made up.")],
            [(1, MENDED), (2, MENDED), (2, "It approved the budget.")],
            [(1, MENDED), (2, "word " * 100)],
            [(1, MENDED), (0, MENDED), (-1, MENDED)],
        ],
        ids=["missing", "invented", "twice", "too long", "off the list"],
    )
    async def test_it_is_asked_again_about_the_sentences_that_lack_one(
        self, entries: Any, checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
    ):
        writer.play([rewrites(*entries), rewrites((2, "It approved the budget."), (1, "Not asked for."))])
        checker = checker_of()
        found = await improved(checker, improver_of(checker), f"{FALSE} {OTHER}")
        assert (found.status, found.after) == ("improved", f"{MENDED} It approved the budget.")
        assert len(writer.requests) == 2
        assert [(one["number"], one["sentence"]) for one in asked(writer.requests[1])] == [(2, OTHER)]

    async def test_an_answer_that_is_cut_off_is_asked_again_for_what_it_lacks(
        self, checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
    ):
        half = f'{{"sentences": [{{"number": 1, "reason": "-", "improved": "{MENDED}"}}, {{"number": 2, "rea'
        writer.play([says(half, finish_reason="length"), rewrites((2, MENDED))])
        checker = checker_of()
        found = await improved(checker, improver_of(checker), f"{FALSE} {OTHER}")
        assert (found.status, found.after) == ("improved", f"{MENDED} {MENDED}")
        assert [one["number"] for one in asked(writer.requests[1])] == [2]

    async def test_a_sentence_that_is_left_out_twice_stays_as_it_is(
        self, checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
    ):
        writer.play([rewrites((1, MENDED)), rewrites(), rewrites()])
        checker = checker_of()
        found = await improved(checker, improver_of(checker, rounds=1), f"{FALSE} {OTHER}")
        assert (found.status, found.after) == ("not_improved", f"{MENDED} {OTHER}")
        assert [left.text for left in found.inconsistent] == [OTHER]

    async def test_what_was_usable_stays_where_asking_again_fails(
        self, checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
    ):
        writer.play([rewrites((1, MENDED)), nonsense(), nonsense()])
        checker = checker_of()
        found = await improved(checker, improver_of(checker, rounds=1), f"{FALSE} {OTHER}")
        assert (found.status, found.after) == ("not_improved", f"{MENDED} {OTHER}")
        assert found.usage.calls == 4

    async def test_no_entry_at_all_is_no_try(
        self, checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
    ):
        writer.play([rewrites(), rewrites((7, "b"))])
        checker = checker_of()
        found = await improved(checker, improver_of(checker), f"{FALSE} {OTHER}")
        assert (found.status, found.after, len(found.inconsistent)) == ("not_tried", None, 2)
        assert "'sentences' needs one entry for each number of the list" in found.reason


async def test_many_sentences_are_asked_about_in_several_questions(
    checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
):
    checker = checker_of()
    response = " ".join(f"Chairman number {number} resigned." for number in range(12))
    found = await improved(checker, improver_of(checker), response)
    assert found.status == "improved", found.reason
    assert sorted(len(asked(request)) for request in writer.requests) == [4, 4, 4]
    assert len(found.rounds[0].changes) == 12


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        ([nonsense(), nonsense()], "no usable reply, after one repair turn"),
        ([status(400, "no")], "refused"),
        ([rewrites((1, "a\x00b")), rewrites((1, "a\x00b"))], "no usable reply"),
    ],
)
async def test_a_writer_without_a_usable_answer_is_a_fact_not_an_error(
    checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint, acts: list[Act], said: str
):
    writer.play(acts)
    checker = checker_of()
    found = await improved(checker, improver_of(checker), f"{GOOD} {FALSE}")
    assert (found.status, found.before, found.after) == ("not_tried", f"{GOOD} {FALSE}", None)
    assert found.reason.startswith("The writer gave no usable answer: ")
    assert said in found.reason
    assert [left.text for left in found.inconsistent] == [FALSE]


async def test_a_writer_that_fails_in_a_later_round_leaves_what_there_is(
    checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
):
    writer.play([rewrites((1, "The chairman stayed.")), nonsense(), nonsense()])
    checker = checker_of()
    found = await improved(checker, improver_of(checker), f"{GOOD} {FALSE}")
    assert (found.status, len(found.rounds)) == ("not_improved", 1)
    assert found.reason.startswith("After 1 round of rewriting: The writer gave no usable answer")


async def test_while_the_writer_is_down_the_verdict_is_to_be_held(
    checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
):
    checker = checker_of()
    improver = improver_of(checker)
    writer.down()
    with pytest.raises(ModelUnavailable):
        await improved(checker, improver, f"{GOOD} {FALSE}")
    writer.up()
    assert (await improved(checker, improver, f"{GOOD} {FALSE}")).status == "improved"


class TestTheWriter:
    """Who rewrites, and how it is asked."""

    def test_the_local_judge_cannot(self):
        with pytest.raises(ValueError, match=r"improver\.writer\.base_url and improver\.writer\.model"):
            build_writer(RewritingSettings(), grading(lambda *_: 1.0))

    async def test_the_judge_does_where_nobody_is_named(self, stub: StubEndpoint):
        stub.answer = writer_answer
        settings = JudgeSettings(backend="openai", base_url=stub.base_url, model="stub")
        judge = build_model(settings)
        writer = build_writer(RewritingSettings(), judge)
        assert writer is judge
        checker = ConsistencyChecker(ConsistencySettings(), Models(judge=judge))
        found = await improved(checker, ConsistencyImprover(RewritingSettings(), checker, writer), f"{GOOD} {FALSE}")
        assert (found.status, found.writer) == ("improved", "openai/stub")
        await judge.close()

    def test_one_that_is_named_must_be_complete(self):
        with pytest.raises(ValueError, match="base_url and model"):
            RewritingSettings.model_validate({"writer": {"model": None}})

    async def test_the_users_own_template_is_used(
        self, checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint, tmp_path
    ):
        template = tmp_path / "mine.txt"
        template.write_text("=== user ===\nMend the {{text}}.\n{{sentences}}\nThe source:\n{{reference}}\n")
        checker = checker_of()
        found = await improved(checker, improver_of(checker, prompts={"improve": template}), f"{GOOD} {FALSE}")
        assert found.status == "improved"
        assert "Mend the summary." in writer.requests[0].body["messages"][-1]["content"]
        assert (
            found.prompt_versions
            != improver_of(checker).not_tried(await checker.check(generation(FALSE)), "-").prompt_versions
        )

    async def test_a_template_of_an_unknown_name_is_refused(
        self, checker_of: MakeChecker, improver_of: MakeImprover, tmp_path
    ):
        with pytest.raises(ValueError, match="allowed are improve"):
            improver_of(checker_of(), prompts={"summary": tmp_path / "x.txt"})
