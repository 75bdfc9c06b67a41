"""A label is the subject's own: whoever gives it without knowing the criteria is rejected, however good its x' are."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import orjson
import pytest

from checkers.labelling.rubric import load_rubric
from models.work import gather_or_cancel
from schemas import LabellingEvidence, Verdict
from tests.checkers.case import evidence_of
from tests.checkers.labelling.conftest import MakeChecker, labelling
from tests.checkers.labelling.players import StubLabeller, bit_strings, encoded, label_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

SIX = """
rubric: six
criteria:
  even-ones: x.count("1") % 2 == 0
  starts-zero: x.startsWith("0")
  has-101: x.contains("101")
  ends-one: x.endsWith("1")
  many-ones: x.count("1") > 5
  has-000: x.contains("000")
label: majority
"""

Says = Callable[[tuple[int, ...], int, Random], tuple[list[int], int]]
"""From the right bits and the right label to those that a labeller gives."""


SAYS: dict[str, Says] = {
    "what is so": lambda bits, label, _: (list(bits), label),
    "the same": lambda bits, _, __: ([1] * len(bits), 1),
    "the opposite": lambda bits, label, _: (list(bits), 1 - label),
    "what a coin says": lambda bits, _, draw: ([draw.randrange(2) for _ in bits], draw.randrange(2)),
}


class Labeller(StubLabeller):
    """Makes each x' as well as one that knows the rubric does, whatever it says of x."""

    def __init__(self, path: Path, says: Says) -> None:
        super().__init__(load_rubric(path))
        self._says = says

    def reply(self, x: str) -> tuple[list[int], int]:
        bits = encoded(self.rubric, x)[0]
        return self._says(bits, int(str(label_of(self.rubric, bits))), Random(x))

    def __call__(self, request: StubRequest) -> str:
        if "examples" not in request.texts or "earlier" in request.texts:
            return super().__call__(request)
        bits, label = self.reply(request.texts["datapoint"])
        reasons = [{"criterion": n, "reason": "Looked.", "holds": bool(bit)} for n, bit in enumerate(bits, 1)]
        return orjson.dumps({"reasons": reasons, "label": str(label)}).decode()


@pytest.fixture
def six(tmp_path: Path) -> Path:
    path = tmp_path / "six.yaml"
    path.write_text(SIX, encoding="utf-8")
    return path


async def verdicts(
    checker_of: MakeChecker, stub: StubEndpoint, six: Path, says: Says, records: int = 1
) -> list[Verdict]:
    """On records whose label is the labeller's own."""
    stub.answer = labeller = Labeller(six, says)
    checker = checker_of(rubrics={"six": six})
    strings = bit_strings()[:records]
    return await gather_or_cancel(
        checker.check(labelling(x, labeller.reply(x)[1], rubric="six", id=x)) for x in strings
    )


@pytest.mark.parametrize("says", SAYS)
async def test_in_19_of_20_records(checker_of: MakeChecker, stub: StubEndpoint, six: Path, says: str):
    found = await verdicts(checker_of, stub, six, SAYS[says], records=40)
    assert sum(one.outcome == ("accept" if says == "what is so" else "reject") for one in found) >= 38
    # For one label and three datapoints each, and no more.
    assert {one.usage.calls for one in found} == {4}


@pytest.mark.parametrize(
    ("says", "wrong"), [("the opposite", "its reasons make the label"), ("the same", "its reasons are wrong about")]
)
async def test_the_reason_and_the_evidence_say_what_the_labeller_has_wrong(
    checker_of: MakeChecker, stub: StubEndpoint, six: Path, says: str, wrong: str
):
    (verdict,) = await verdicts(checker_of, stub, six, SAYS[says])
    assert f"does not know why: {wrong}" in verdict.reason
    evidence = evidence_of(LabellingEvidence, verdict)
    assert (evidence.succeeded, evidence.unfounded, evidence.contradicted) == (True, True, False)
    (run,) = evidence.runs
    assert run.encoding == encoded(load_rubric(six), evidence.datapoint)[0]
    assert run.holds == (run.encoding if says == "the opposite" else (1,) * 6)


async def test_what_the_judge_finds_of_the_datapoint_is_held_against_the_reasons(
    tmp_path: Path, checker_of: MakeChecker, labeller: StubLabeller, stub: StubEndpoint
):
    rubric = tmp_path / "polite.yaml"
    rubric.write_text('rubric: polite\ncriteria:\n  thanks: {ask: "Does it thank somebody?"}\nlabel: all\n')
    # Its reasons are always that all criteria hold.
    labeller.rubric = load_rubric(rubric)
    labeller.labels = lambda x: 1
    labeller.generates = lambda x, asked: f"{x.split()[0]} a lot, number {asked}."
    checker = checker_of(rubrics={"polite": rubric})
    found = [await checker.check(labelling(f"{word} you.", 1, rubric="polite", id=word)) for word in ("Thank", "Damn")]
    assert [one.outcome for one in found] == ["accept", "reject"]
    assert found[1].reason.endswith("its reasons are wrong about thanks.")
    # The judge is asked about x and three x', as without the comparison.
    assert [one.usage.calls for one in found] == [8, 8]
