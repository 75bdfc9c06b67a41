"""What the writer is asked, what becomes of its answers, and that nothing else of a text moves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from checkers.consistency.improver import ConsistencyImprover
from checkers.consistency.splicing import fits, spliced
from checkers.plugin import ImproverSettings
from models.build import build_judge
from models.judges.prompted import PromptedJudge
from models.settings import JudgeSettings
from models.wording import split_sentences
from schemas import SentenceFinding
from tests.attacks.texts import ATTACKS, name_of
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.checkers.consistency.improver.conftest import FALSE, GOOD, MENDED, OTHER, Improve, MakeImprover, improved
from tests.checkers.consistency.improver.writer import asked, rewrites, writer_answer
from tests.support.record_strategies import texts
from tests.support.stub_acts import Act, nonsense, says, status
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest


async def test_the_writer_is_shown_one_sentence_with_all_that_it_needs(
    checker_of: MakeChecker, improver_of: MakeImprover, writer: StubEndpoint
):
    checker = checker_of()
    await improved(checker, improver_of(checker), f"{GOOD} {FALSE}", prompt="What did they do?")
    (request,) = writer.requests
    assert request.quotes == {
        "Passages": generation("").reference,
        "Question": "What did they do?",
        "Text": f"{GOOD} {FALSE}",
        "This sentence of the text was rejected": FALSE,
        "What was found wrong with it": "not in the reference",
    }
    assert "{{" not in str(request.body)


async def test_what_the_record_and_the_judge_say_stays_quoted(
    checker_of: MakeChecker, improver_of: MakeImprover, stub: StubEndpoint, writer: StubEndpoint
):
    def echo(request: StubRequest) -> Act:
        why = json.dumps({"reason": f"It says: {' '.join(request.sentences)}"})
        return says(why if request.kind == "reason" else "yes" if request.kind == "informs" else "no")

    stub.play(echo)
    checker = checker_of()
    improver = improver_of(checker, rounds=1)
    outside = set()
    for attack in ATTACKS:
        writer.requests.clear()
        await improver.improve(attack, await checker.check(attack))
        assert writer.requests, name_of(attack)
        for request in writer.requests:
            outside.add(_outside(request))
    assert len(outside) == 1


def _outside(request: StubRequest) -> str:
    lines = "\n".join(message["content"] for message in request.body["messages"]).splitlines()
    plain = [">" if line.startswith("> ") else line for line in lines]
    return "\n".join(line for at, line in enumerate(plain) if line != ">" or plain[at - 1] != ">")


async def test_every_sentence_is_a_question_of_its_own_and_what_is_usable_is_used(
    improve: Improve, writer: StubEndpoint
):
    writer.play(lambda request: rewrites(MENDED) if asked(request) == FALSE else nonsense())
    found = await improve(f"{FALSE} {OTHER}", rounds=1)
    assert (found.status, found.after) == ("not_improved", f"{MENDED} {OTHER}")
    assert [left.text for left in found.inconsistent] == [OTHER]
    # That about the other one, and its repair.
    assert [asked(request) for request in writer.requests].count(OTHER) == 2


async def test_a_rewrite_that_is_a_text_of_its_own_is_refused(improve: Improve, writer: StubEndpoint):
    writer.play([rewrites("word " * 100)])
    found = await improve(f"{GOOD} {FALSE}")
    assert found.status == "improved"
    assert "has more than" in str(writer.requests[1].body["messages"][-1])


@pytest.mark.parametrize(("form", "others"), [("short", "list"), ("list", "supported")])
async def test_a_rewrite_is_checked_in_another_form_than_its_response(
    checker_of: MakeChecker, improver_of: MakeImprover, stub: StubEndpoint, form: str, others: str
):
    checker = checker_of(judge={"form": form})
    record = generation(f"{GOOD} {FALSE}")
    verdict = await checker.check(record)
    assert others not in {request.kind for request in stub.requests}
    stub.requests.clear()
    found = await improver_of(checker).improve(record, verdict)
    assert found.status == "improved"
    assert {request.kind for request in stub.requests} == {others}


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        ([nonsense(), nonsense()], "no usable reply, after one repair turn"),
        ([status(400, "no")], "refused"),
        ([rewrites("a\x00b"), rewrites("a\x00b")], "no usable reply"),
    ],
)
async def test_a_writer_without_a_usable_answer_is_a_fact_not_an_error(
    improve: Improve, writer: StubEndpoint, acts: list[Act], said: str
):
    writer.play(acts)
    found = await improve(f"{GOOD} {FALSE}")
    assert (found.status, found.before, found.after) == ("not_tried", f"{GOOD} {FALSE}", None)
    assert found.reason.startswith("The writer gave no usable answer: ")
    assert said in found.reason
    assert [left.text for left in found.inconsistent] == [FALSE]


class TestTheWriter:
    """Who rewrites, and how it is asked."""

    def test_the_local_judge_cannot(self):
        with pytest.raises(ValueError, match=r"improver\.writer\.base_url and improver\.writer\.model"):
            ImproverSettings().build_writer(None)

    async def test_the_judge_does_where_nobody_is_named(self, stub: StubEndpoint):
        stub.answer = writer_answer
        settings = JudgeSettings(backend="openai", base_url=stub.base_url, model="stub")
        judge = build_judge(settings)
        assert isinstance(judge, PromptedJudge)
        writer = ImproverSettings().build_writer(judge.model)
        assert writer is judge.model
        checker = ConsistencyChecker(ConsistencySettings(), Models(judge=judge))
        found = await improved(checker, ConsistencyImprover(checker, writer), f"{GOOD} {FALSE}")
        assert (found.status, found.writer) == ("improved", "openai/stub")
        await judge.close()


responses = st.lists(
    st.sampled_from(["It rained. ", "Dr. Wu left!", "- point", "1. ", "\n", "\r\n", "\t", "  ", "\u2028", "é 🌧 "])
    | texts,
    max_size=12,
).map("".join)


def findings_of(response: str) -> list[SentenceFinding]:
    return [
        SentenceFinding(text=one.text, start=one.start, end=one.end, mark=-1, reason="no", support=0.0)
        for one in split_sentences(response)
    ]


@st.composite
def rewritten(draw: st.DrawFn, words: st.SearchStrategy[str]) -> tuple[str, list[SentenceFinding], dict[int, str]]:
    response = draw(responses)
    findings = findings_of(response)
    chosen = draw(st.sets(st.integers(0, len(findings) - 1))) if findings else set()
    return response, findings, {index: draw(words) for index in sorted(chosen)}


@given(rewritten(texts.map(str.strip).filter(bool)))
def test_everything_outside_the_rewritten_sentences_stays_byte_for_byte(case):
    response, findings, rewrites = case
    pieces, at = [], 0
    for index, text in rewrites.items():
        pieces += [response[at : findings[index].start], text]
        at = findings[index].end
    assert spliced(response, findings, rewrites) == "".join([*pieces, response[at:]])


@given(rewritten(st.just("")))
def test_where_sentences_are_taken_out_the_words_of_the_others_stay_in_their_order(case):
    response, findings, rewrites = case
    left = spliced(response, findings, rewrites)
    at = 0
    for index, found in enumerate(findings):
        if index not in rewrites:
            at = left.index(found.text, at) + len(found.text)
    gone = sum(len(findings[index].text) for index in rewrites)
    assert len(left) <= len(response) - gone
    if len(rewrites) == len(findings) > 0:
        assert left == ""


@pytest.mark.parametrize(
    ("response", "out", "left"),
    [
        ("One stays. Two goes. Three stays.", [1], "One stays. Three stays."),
        ("One goes. Two stays.", [0], "Two stays."),
        ("One stays. Two goes.\n", [1], "One stays.\n"),
        ("One stays.\n\nTwo goes.\n\nThree stays.", [1], "One stays.\n\nThree stays."),
        ("Items:\n\n- One goes.\n- Two stays.", [1], "Items:\n\n- Two stays."),
        ("Items:\n  - One stays.\n  - Two goes.\n  - Three stays.", [2], "Items:\n  - One stays.\n  - Three stays."),
        ("1. One stays.\n2. Two goes.", [1], "1. One stays."),
        ("One stays. Two goes. Three goes. Four stays.", [1, 2], "One stays. Four stays."),
        ("- One goes.\n- Two goes.\n", [0, 1], ""),
    ],
)
def test_a_sentence_that_is_taken_out_leaves_no_gap(response, out, left):
    assert spliced(response, findings_of(response), dict.fromkeys(out, "")) == left


def test_findings_fit_the_response_they_are_about_and_no_other():
    response = "One is here. Two is here."
    findings = findings_of(response)
    assert fits(response, findings)
    assert not fits(response.replace("Two", "Tea"), findings)
    assert not fits(f" {response}", findings)
    assert not fits(response, findings[::-1])
    assert not fits(response, [findings[0].model_copy(update={"start": -25, "end": -13})])


@pytest.mark.parametrize(
    ("response", "left"),
    [
        ("Hello there! It rained.", "Hello there!"),
        ("Hello there!\n- It rained.\n- Bye!", "Hello there!\n- Bye!"),
        ("It rained. Bye!", "Bye!"),
    ],
)
def test_what_has_no_finding_stays_beside_what_is_taken_out(response: str, left: str):
    found = findings_of(response)
    rained = [one for one in found if "rained" in one.text]
    others = [one for one in found if "rained" not in one.text]
    assert spliced(response, rained, {0: ""}, others=others) == left
