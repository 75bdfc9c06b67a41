"""Rules from YAML files, refused by the key that is wrong; and sentence likelihoods."""

import json
from pathlib import Path

import pytest

from lab.link.models import EndpointScorer
from lab.link.rules import BUNDLED, Rule, read_rules
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import SubjectSettings
from tests.checkers.longtail.probes import DOMAINS
from tests.lab.link.world import World, log_likelihood
from tests.support.stub_acts import Act, status

# In the shape of the paper's (LINK, tables 4, 11 and 13): premise, conclusion.
RULE_0 = (
    ["{P} lived in {A}", "{P} lived during {D}", "{A} existed during {D}", "{C} was invented in {Y}", "{D} < {Y}"],
    "{P} cannot use {C}",
)
RULE_112 = (["{B} has trouble containing {C}", "{A} is larger than {C}"], "{A} cannot fit in {B}")
ALLERGY = (["{X} is allergic to {A}", "{Z} is a kind of {A}", "{Z} is in {B}"], "{X} cannot eat {B}")


def entry(said: tuple[list[str], str], types: str, **keys: object) -> dict[str, object]:
    """The rule as it stands in a file; `types` are its variables."""
    premise, conclusion = said
    turned = conclusion.replace("cannot", "can")
    named = {name: f"Thing {name}" for name in (types.split() if " " in types else types)}
    forms = {"premise": premise, "conclusion": conclusion, "negation": turned, "question": turned, "answer": "no"}
    return {"domain": "natural properties", "types": named, **forms, **keys}


def read(folder: Path, **rules: object) -> list[Rule]:
    file = folder / "t.yaml"
    # JSON is YAML, and keeps the order.
    file.write_text(json.dumps(rules), encoding="utf-8")
    return read_rules(str(file))


@pytest.mark.parametrize(
    ("said", "types", "keys", "expected"),
    [
        (ALLERGY, "XAZB", {}, ("XAZB", "AZB", "Thing X X")),
        (RULE_0, "PADCY", {"order": "backward"}, ("PADYC", "CYDA", "Thing P X")),
        (RULE_112, "BCA", {"subject": "A", "order": "backward"}, ("ACB", "BC", "Thing A X")),
    ],
)
def test_the_papers_rules_are_searched_along_their_chain_numeric_ones_from_the_conclusion_back(
    said: tuple[list[str], str], types: str, keys: dict[str, object], expected: tuple[str, ...], tmp_path: Path
):
    (found,) = read(tmp_path, r=entry(said, types, **keys))
    assert ("".join(found.chain), "".join(found.searched), found.general_value) == expected


SUBJECTLESS = (["{X} is part of {A}", "{A} is in {B}"], "{C} fits {D}")
FORKED = (["{X} has {A}", "{X} has {B}", "{X} opens {C}"], "{X} uses {C}")
REPEATED = (["{X} uses {B}", "{X} has {A}", "{A} opens {B}"], "{X} uses {B}")


@pytest.mark.parametrize(
    ("said", "types", "keys", "complaint"),
    [
        (SUBJECTLESS, "XABCD", {}, "r: .*share no variable.*criterion 1"),
        (RULE_112, "BCA", {"subject": "C"}, "r: .*subject must be in premise and conclusion.* B and A.*criterion 1"),
        (FORKED, "XABC", {}, "r: .*no single chain.*from the subject X to C.*criterion 2"),
        (REPEATED, "XAB", {}, "r: .*a sentence stands there twice.*criterion 3"),
        ((["{X} is of {A}"], "{X} lives in {A}"), "XAB", {}, "r.premise: .*at least 2"),
        (RULE_112, "BCA", {"question": "does {A} fit {C}"}, "r: .*negation and question must name the variables of"),
    ],
)
def test_a_rule_that_breaks_a_criterion_is_refused_by_its_key(
    said: tuple[list[str], str], types: str, keys: dict[str, object], complaint: str, tmp_path: Path
):
    with pytest.raises(ValueError, match=f"^{tmp_path}/t.yaml: {complaint}"):
        read(tmp_path, r=entry(said, types, **keys))


def test_a_file_that_is_none_is_named(tmp_path: Path):
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_rules(str(tmp_path / "none.yaml"))
    for data, complaint in (
        (b"\xff", "not YAML: .*invalid start byte"),
        (b"# nothing\n", "holds no rule; expected names of rules, each with domain, types"),
        (b"a: !!python/object:os.system {}", "not YAML: could not determine a constructor"),
        (b"a: {}\na: {}", 'not YAML: .*duplicate key "a"'),
    ):
        (tmp_path / "t.yaml").write_bytes(data)
        with pytest.raises(ValueError, match=complaint):
            read_rules(str(tmp_path / "t.yaml"))


def test_rules_that_come_with_assay_span_the_domains():
    rules = read_rules(BUNDLED)
    assert len(rules) >= 12
    assert {one.domain for one in rules} == set(DOMAINS)


async def _scored(world: World, sentences: list[str]):
    scorer = EndpointScorer(SubjectSettings(base_url=world.base_url, model="m"))
    try:
        return await scorer.log_likelihoods(sentences)
    finally:
        await scorer.close()


async def test_llama_cpp_which_ignores_echo_is_made_to_write_the_sentence_token_by_token():
    sentences = ["tool-3 and room-4", "tool-9 alone"]
    with World(tools=1, rooms=1) as world:
        world.echoes = False
        found, usage = await _scored(world, sentences)
        forced = [request.body for request in world.requests if "grammar" in request.body]
        paths = [request.path for request in world.requests]
    assert found == pytest.approx(list(map(log_likelihood, sentences)))
    assert sorted(one["max_tokens"] for one in forced) == [1, 2]
    assert all(one["logprobs"] == 1 for one in forced)
    assert paths.count("/tokenize") == 2
    assert (usage.calls, usage.completion_tokens) == (3, 4)


@pytest.mark.parametrize(
    ("act", "error", "told"),
    [
        (status(503, "busy"), ModelUnavailable, {"misconfigured": False}),
        (status(401, "who are you"), ModelUnavailable, {"misconfigured": True}),
        (status(400, "echo is not supported"), ModelFailed, {"cause": "judge_unusable"}),
        (Act(document={"choices": [{"index": 0, "text": "x"}]}), ModelFailed, {"cause": "judge_unusable"}),
    ],
)
async def test_an_endpoint_that_gives_none_is_away_or_of_no_use(act: Act, error: type[Exception], told: dict):
    with World(tools=1, rooms=1) as world:
        world.play(lambda request: act)
        with pytest.raises(error) as raised:
            await _scored(world, ["a sentence"])
    assert {name: getattr(raised.value, name) for name in told} == told
