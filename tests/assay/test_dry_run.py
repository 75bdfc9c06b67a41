"""`assay check --dry-run`: what a file would cost, held against what an endpoint then counts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.assay.running import ROOT, assay, install
from tests.support.equivalence import ALIGNED, APART, StubSubject
from tests.support.extraction import ENTITIES, TEXT, answering, places
from tests.support.labelling import StubLabeller, agreeable
from tests.support.retrieval import StubMatcher
from tests.support.stub_answers import consistency_answer, entries_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

REFERENCE = "The old mill was sold to the bank in March. " * 20
COLUMNS = ("calls", "prompt_tokens", "completion_tokens", "cost")
PLAIN = """
rubric: polite
criteria:
  - thanks: {ask: "Does it thank somebody?"}
  - calm: {ask: "Is it free of threats?"}
  - short: {ask: "Is it shorter than a page?"}
label: all
"""

Answer = Callable[[StubRequest], str]
Records = list[dict[str, Any]]


def record(kind: str, number: int, **body: Any) -> dict[str, Any]:
    return {"id": f"{kind}-{number}", "kind": kind, "source": "s", "model": "m", **body}


def responses(*sentences: int, copies: int = 20, **fields: Any) -> Records:
    sentence = "The old mill was sold to the bank in March."
    # No response is another's, so that nothing comes from the cache.
    return [
        record("generation", n, response=f"{sentence} " * many, **{"reference": f"{n}. {REFERENCE * copies}", **fields})
        for n, many in enumerate(sentences)
    ]


def restating(request: StubRequest) -> str:
    """Tells each sentence again before it decides."""
    texts = request.reasons or request.sentences
    entries = zip(request.numbers or range(1, 1 + len(texts)), texts, strict=True)
    told = "The reference says the same in other words, and nothing in it speaks against this: "
    return entries_of((number, told + text, True) for number, text in entries)


def decisions(*, yes: bool) -> Records:
    shut = ("The office will be shut on Friday because of the storm.", "Because of the storm it is closed on Friday.")
    return [
        record("paraphrase", n, sentence1=first, sentence2=second, answer=yes, prompt=f"Decide for museum {n}.")
        for n, (first, second) in enumerate((ALIGNED, APART, shut))
    ]


def in_other_words(sentence: str) -> list[str]:
    """Some nearer to the sentence than others, as a model writes them."""
    words = sentence.rstrip(".").split()
    half = len(words) // 2
    return [
        f"{' '.join(words[half:])}, {' '.join(words[:half])}.",
        f"It is said that {sentence}",
        sentence.replace("the", "that") + " Indeed.",
        f"In short: {' '.join(words[:half])} and then {' '.join(words[half:])}.",
        f"{' '.join(reversed(words))}.",
    ]


def labels() -> Records:
    strings = ["011011010110", "111100001111", "000000000001"]
    labeller = StubLabeller()
    return [
        record("labelling", n, datapoint=x, rubric="r", label=labeller.label(x), prompt="Count." if n else None)
        for n, x in enumerate(strings)
    ]


def prompts_and_outputs() -> Records:
    return [
        record("labelling", n, datapoint={"prompt": f"Say {n}.", "output": f"{n}, thanks."}, rubric="plain", label=1)
        for n in range(3)
    ]


def hits() -> Records:
    same = {"id": "a", "text": "Is it open?", "score": 0.9}
    other = {"id": "b", "text": "When does it open on Sundays?", "score": 0.8}
    store = {"store": "cache", "query": "Is it open?"}
    return [
        record("retrieval", 1, **store, matched=same),
        record("retrieval", 2, **store, matched=other, candidates=[same | {"id": "c", "text": "Is it shut?"}]),
        record("retrieval", 3, **store | {"store": "knowledge"}, matched=other),
    ]


def extractions() -> Records:
    texts = [TEXT, TEXT.replace("Lagos", "Accra"), TEXT.replace("Turin", "Oslo")]
    entities = [list(ENTITIES), ["Ada Okafor", "Accra", "Turin"], ["Ada Okafor", "Lagos", "Oslo"]]
    return [record("extraction", n, text=one, entities=entities[n]) for n, one in enumerate(texts)]


def extracting(request: StubRequest) -> str:
    """The judge proposes; the subject finds what stands in the places of the three."""
    if "entities" not in request.fences:
        return answering(places)(request)
    asked = json.loads(request.fences["entities"])
    names = ("Ineta Brodan", "Mallow", "Quarne")
    proposed = [{"text": name, "fits": True} for name in names]
    return json.dumps(
        {"replacements": [{"entity": one["entity"], "named": True, "candidates": proposed} for one in asked]}
    )


def forgetful(request: StubRequest) -> str:
    """Finds but two of the three in about every second text."""
    if "entities" in request.fences or len(request.fences["text"]) % 2:
        return extracting(request)
    return answering(lambda text: places(text)[:2])(request)


def echoing(request: StubRequest) -> str:
    """Gives the datapoint itself for one that is like it."""
    labeller = StubLabeller()
    labeller.generates = lambda x, asked: x
    return labeller(request)


@dataclass(frozen=True)
class Case:
    """Records, and how models answer about them."""

    checker: str
    records: Records
    answer: Answer
    gives_several: bool = False
    settings: str = ""
    certain: bool = False
    """True if no answer changes the number of calls."""
    usual: bool = False
    """True if the models answer as is expected."""


CASES = {
    "terse": Case("consistency", responses(*[15] * 40), consistency_answer, certain=True),
    "restating": Case("consistency", responses(1, 7, 8, 30, 150), restating, certain=True),
    "reasons": Case(
        "consistency", responses(7, 30), restating, settings='[consistency]\nmarks_from = "reasons"', certain=True
    ),
    "samples": Case(
        "consistency",
        responses(7, 8, reference=None, samples=[f"{n}. {REFERENCE}" for n in range(5)]),
        consistency_answer,
        certain=True,
    ),
    "window": Case(
        "consistency", responses(15, copies=50), restating, settings="[judge]\ncontext_tokens = 4096", certain=True
    ),
    "yes, all yes": Case("equivalence", decisions(yes=True), StubSubject(phrases=lambda *_: True), usual=True),
    "yes, denied": Case("equivalence", decisions(yes=True), StubSubject(phrases=lambda *_: False)),
    "no, all yes": Case(
        "equivalence", decisions(yes=False), StubSubject(phrases=lambda *_: True, paraphrases=in_other_words)
    ),
    "no, denied": Case(
        "equivalence", decisions(yes=False), StubSubject(phrases=lambda *_: False, paraphrases=in_other_words)
    ),
    "no, some": Case("equivalence", decisions(yes=False), StubSubject(paraphrases=in_other_words)),
    "no, far": Case(
        "equivalence", decisions(yes=False), StubSubject(paraphrases=lambda one: in_other_words(one[::-1]))
    ),
    "extraction with n": Case("extraction", extractions(), extracting, gives_several=True, usual=True),
    "extraction without n": Case("extraction", extractions(), extracting),
    "forgetful": Case("extraction", extractions(), forgetful),
    "lenient": Case("extraction", extractions(), forgetful, settings='[extraction]\nrule = "lenient"'),
    "full": Case("extraction", extractions()[:1], extracting, settings='[extraction]\nschedule = "full"\nrepeats = 3'),
    "rules": Case("labelling", labels(), StubLabeller(), usual=True),
    "plain": Case("labelling", prompts_and_outputs(), agreeable, usual=True),
    "lost at once": Case("labelling", labels(), echoing),
    "retrieval": Case("retrieval", hits(), StubMatcher(), certain=True),
}


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def configured(tmp_path: Path, stub: StubEndpoint) -> Path:
    """A folder with a configuration whose judge and subject are the stub, at different prices."""
    return configure(tmp_path, stub)


def configure(folder: Path, stub: StubEndpoint, settings: str = "") -> Path:
    (folder / "plain.yaml").write_text(PLAIN)
    judge = settings.removeprefix("[judge]") if settings.startswith("[judge]") else ""
    (folder / "assay.toml").write_text(
        f"""
[judge]
backend = "openai"
base_url = "{stub.base_url}"
model = "judge"
prompt_price = 10.0
completion_price = 20.0
{judge}
[subjects.m]
base_url = "{stub.base_url}"
model = "m"
prompt_price = 1.0
completion_price = 2.0
[labelling.rubrics]
r = "{ROOT / "examples" / "rubrics" / "in-phenomenon.yaml"}"
plain = "plain.yaml"
{"" if judge else settings}
"""
    )
    return folder


def dry_run(folder: Path, records: list[Any], *options: str, site: Path | None = None) -> dict[str, dict[str, Any]]:
    """What is told, by checker."""
    stdin = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records).encode()
    ran = assay("check", "-", "--dry-run", "--out", "-", *options, cwd=folder, stdin=stdin, site=site)
    assert ran.returncode == 0, ran.stderr
    return {one["checker"]: one for one in map(json.loads, ran.stdout.splitlines())}


def used_for(folder: Path, records: Records, checker: str) -> dict[str, float]:
    """What the verdicts then tell."""
    stdin = "\n".join(map(json.dumps, records)).encode()
    ran = assay("check", "-", "--checker", checker, cwd=folder, stdin=stdin)
    assert ran.returncode == 0, ran.stderr
    verdicts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {verdict["outcome"] for verdict in verdicts} <= {"accept", "reject"}, ran.stdout
    return {column: sum(verdict["usage"][column] for verdict in verdicts) for column in COLUMNS}


@pytest.mark.parametrize("name", CASES)
def test_the_truth_lies_within_what_it_tells(tmp_path: Path, stub: StubEndpoint, name: str) -> None:
    case = CASES[name]
    stub.answer, stub.gives_several = case.answer, case.gives_several
    folder = configure(tmp_path, stub, case.settings)
    told = dry_run(folder, case.records, "--checker", case.checker)[case.checker]
    assert not stub.requests, "a dry run asks nothing"
    used = used_for(folder, case.records, case.checker)
    assert used["calls"] == len(stub.requests) > 0
    for column in COLUMNS:
        assert told["at_least"][column] <= used[column] <= told["at_most"][column], column
        assert told["at_least"][column] <= told["expected"][column] <= told["at_most"][column], column
    schemas = sum(len(json.dumps(request.body["response_format"])) // 4 for request in stub.requests)
    assert used["prompt_tokens"] + schemas <= told["at_most"]["prompt_tokens"], "some endpoints count the schema"
    if case.usual:
        assert told["expected"]["calls"] == pytest.approx(used["calls"], rel=0.1)
    if case.certain:
        assert told["at_least"]["calls"] == used["calls"] == told["at_most"]["calls"]
        assert told["expected"]["cost"] == pytest.approx(used["cost"], rel=0.25)


def test_the_samples_are_within_what_it_tells(configured: Path, stub: StubEndpoint) -> None:
    stub.answer = restating
    file = ROOT / "examples" / "records.jsonl"
    told = dry_run(configured, file.read_text("utf-8").splitlines(), "--checker", "consistency")["consistency"]
    ran = assay("check", file, "--checker", "consistency", cwd=configured)
    assert ran.returncode == 0, ran.stderr
    usages = [json.loads(line)["usage"] for line in ran.stdout.splitlines()]
    used = {column: sum(usage[column] for usage in usages) for column in COLUMNS}
    assert (told["records"], told["tried"]) == (37, 37)
    assert told["expected"]["calls"] == used["calls"]
    for column in COLUMNS[1:]:
        assert told["at_least"][column] <= used[column] <= told["at_most"][column], column


def test_many_records_are_reckoned_from_a_few_by_their_sizes(configured: Path) -> None:
    sizes = [1 + n % 7 for n in range(120)] + [70, 80, 90]
    records = responses(*sizes, copies=1)
    apart = [dry_run(configured, records[n : n + 40])["consistency"]["expected"] for n in range(0, len(records), 40)]
    told = dry_run(configured, records)["consistency"]
    assert (told["records"], told["tried"]) == (123, 40)
    for column in COLUMNS:
        assert told["expected"][column] == pytest.approx(sum(one[column] for one in apart), rel=0.1), column


ASKING = """
from pydantic import BaseModel

from assay import Checker, Decision, Generation, Message, Question


class Part(BaseModel):
    number: int
    sound: bool


class Reply(BaseModel):
    reason: str
    parts: list[Part]


def complaint(reply):
    return None if [one.number for one in reply.parts] == [1, 2, 3] else "there must be three parts"


class Asking(Checker):
    name = "asking"
    needs = "answers"

    async def decide(self, record: Generation) -> Decision:
        text = (Message("user", record.response),)
        first = Question("asking.parts", "1", text, Reply, complaint)
        sound = [one.sound for one in (await self.judge.ask(first)).reply.parts]
        if not all(sound):
            await self.judge.ask(Question("asking.again", "1", (*text, *text), Reply, complaint))
        return Decision(accepted=all(sound), reason="It was asked.")


class Odd(Checker):
    name = "odd"
    needs = "answers"

    async def decide(self, record: Generation) -> Decision:
        if record.response == "crash":
            raise RuntimeError("what the record says")
        question = Question("odd.word", "1", (Message("user", "?"),), Reply, lambda reply: "never right")
        return Decision(accepted=bool((await self.judge.ask(question)).reply), reason="It was asked.")
"""


def test_a_checker_of_another_package_is_tried_like_our_own(tmp_path: Path, stub: StubEndpoint) -> None:
    folder = configure(tmp_path, stub)
    install(tmp_path / "site", module="asking", source=ASKING, entry_points={"asking": "asking:Asking"})
    told = dry_run(folder, responses(1, 2), "--checker", "asking", site=tmp_path / "site")["asking"]
    assert [told[row]["calls"] for row in ("at_least", "expected", "at_most")] == [2, 2, 4]
    assert told["unknown"] == 0
    assert not stub.requests


def test_what_cannot_be_tried_is_named_and_its_cost_unknown(tmp_path: Path, stub: StubEndpoint) -> None:
    folder = configure(tmp_path, stub)
    install(tmp_path / "site", module="asking", source=ASKING, entry_points={"odd": "asking:Odd"})
    records = [record("generation", 1, response="crash"), record("generation", 2, response="calm")]
    stdin = "\n".join(map(json.dumps, records)).encode()
    ran = assay("check", "-", "--dry-run", "--checker", "odd", cwd=folder, stdin=stdin, site=tmp_path / "site")
    assert ran.returncode == 0, ran.stderr
    crash, odd = ran.stderr.splitlines()
    assert crash == "line 1: odd failed on record generation-1: RuntimeError"
    assert odd.startswith("line 2: odd failed on record generation-2: no reply can be made")
    assert "odd                 2  unknown" in ran.stdout


def test_the_same_question_is_counted_once(configured: Path) -> None:
    once, twice = (dry_run(configured, hits() * times)["retrieval"]["at_most"] for times in (1, 2))
    assert once == twice


def test_prices_are_those_of_the_model_that_is_asked(configured: Path) -> None:
    for records, price in ((hits(), 10.0), (labels(), 1.0)):
        checker = "retrieval" if price > 1 else "labelling"
        expected = dry_run(configured, records, "--checker", checker)[checker]["expected"]
        cost = (expected["prompt_tokens"] + 2 * expected["completion_tokens"]) * price / 1_000_000
        assert expected["cost"] == pytest.approx(cost, rel=0.01)


def test_a_person_gets_a_table_and_bad_lines_are_counted(configured: Path, stub: StubEndpoint) -> None:
    (configured / "in.jsonl").write_text(
        "\n".join(
            [
                *map(json.dumps, [*responses(1, 7, 8, 30), *labels()]),
                json.dumps(record("labelling", 9, datapoint="0", rubric="none", label=1)),
                "no record",
                json.dumps({"kind": "poem"}),
                json.dumps(record("extraction", 1, text="a", entities=[])),
            ]
        )
    )
    chosen = [word for name in ("consistency", "labelling") for word in ("--checker", name)]
    ran = assay("check", "in.jsonl", "--dry-run", *chosen, cwd=configured)
    assert ran.returncode == 0, ran.stderr
    assert "line 9: not_json" in ran.stderr
    assert "line 10: unknown_kind" in ran.stderr
    rows = [line.split() for line in ran.stdout.splitlines()]
    assert ["consistency", "4", "at", "least", "9"] in [row[:5] for row in rows]
    assert ["labelling", "4", "at", "least", "6"] in [row[:5] for row in rows]
    assert ["expected", "12"] in [row[:2] for row in rows]
    assert "labelling: 1 record abstained on without a call" in ran.stdout
    assert "1 record of a kind that no selected checker takes" in ran.stdout
    assert "2 lines without a record that can be read" in ran.stdout
    assert not stub.requests


def test_of_a_cascade_the_local_judge_decides_all_or_nothing(configured: Path, stub: StubEndpoint) -> None:
    records = responses(1, 7, 8, 30)
    alone = dry_run(configured, records)["consistency"]
    toml = (configured / "assay.toml").read_text()
    cascade = toml.replace('"openai"', '"cascade"', 1) + "[consistency.thresholds]\naccept_from = 0.9\n"
    (configured / "assay.toml").write_text(cascade)
    told = dry_run(configured, records)["consistency"]
    assert told["at_least"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0}
    assert (told["cascade"], told["expected"], told["at_most"]) == (True, alone["expected"], alone["at_most"])
    stdin = "\n".join(map(json.dumps, [*records, *hits()])).encode()
    table = assay("check", "-", "--dry-run", cwd=configured, stdin=stdin).stdout
    assert "consistency: at least, the cascade's local judge decides all" in table
    assert "retrieval: at least" not in table
    assert not stub.requests


def test_no_judge_is_loaded_and_a_local_one_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("models.model_loading.ModelThread.load", load)
    monkeypatch.setattr("models.model_loading.ModelThread.model", load)
    told = dry_run(tmp_path, [*responses(1, 7, 8, 30), *hits()])
    assert told["consistency"]["expected"]["calls"] == 4
    assert {one["at_most"]["cost"] for one in told.values()} == {0}
