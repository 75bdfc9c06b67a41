"""`assay audit` as users run it: figures, pictures, made triplets, endpoints, stores, wrong use."""

import hashlib
import json
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.root import cli
from checkers.model_patience import ModelPatience
from lab.audit import METRICS, Relation
from lab.audit.triplets import Triplet, read_triplets, write_triplets
from models.model_loading import ModelUnusable
from tests.support.ports import free_port
from tests.support.stub_acts import Act, good, status
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest


def triplet(name: str, relation: Relation, *texts: str) -> Triplet:
    """A triplet of base, positive, negative and perhaps a text about something else."""
    said = dict(zip(("base", "positive", "negative", "unrelated"), texts, strict=False))
    return Triplet.model_validate({"id": name, "relation": relation} | said)


TRIPLETS = [
    triplet("s1", "word_swap", "the nurse thanked the pilot", "a pilot got thanks", "the pilot thanked the nurse"),
    triplet("s2", "word_swap", "a cat chased a dog", "a dog ran from one cat", "a dog chased a cat"),
    triplet("n1", "quantifier_substitution", "nine trains go", "go nine trains go", "seven trains go", "snow fell"),
]

NOWHERE = "http://127.0.0.1:9/v1"
MODEL = "bag-of-words"


class BagOfWords:
    """A model that adds up drawn vectors of words, whatever their order."""

    def encode(self, sentences: list[str], **_: object) -> Any:
        seeds = [[zlib.crc32(word.encode()) for word in one.split()] for one in sentences]
        return np.array([sum(np.random.default_rng(seed).normal(size=4) for seed in some) for some in seeds])


def load(name: str, **_: object) -> BagOfWords:
    if name != MODEL:
        raise ModelUnusable(f"the sentence-transformers model {name!r} cannot be loaded")
    return BagOfWords()


@pytest.fixture
def triplets(tmp_path: Path) -> Path:
    path = tmp_path / "triplets.jsonl"
    write_triplets(path, TRIPLETS)
    return path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, unconfigured: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lab.audit.embedding.sentence_transformer", load)


def audit(*arguments: object, what: str = "embeddings", **variables: str) -> Result:
    return CliRunner().invoke(cli, ["audit", what, *map(str, arguments)], env=variables)


def figures(ran: Result) -> dict[tuple[str, str, str], dict[str, Any]]:
    """By subject, metric and relation."""
    assert ran.exit_code == 0, ran.output
    return {(one["subject"], one["metric"], one["relation"]): one for one in json.loads(ran.stdout)["figures"]}


def test_a_model_that_knows_no_order_swaps_words_and_tells_numbers_apart(triplets: Path) -> None:
    found = figures(audit(MODEL, "--triplets", triplets, "--json"))
    assert [metric for _, metric, relation in found if relation == "word_swap"] == list(METRICS)
    for metric in METRICS[:-1]:
        swapped = found[MODEL, metric, "word_swap"]
        assert (swapped["triplet_cases"], swapped["triplet_accuracy"], swapped["control_cases"]) == (2, 0.0, 2)
        # The same words in another order are the same vector: no distance at all.
        assert swapped["negative_distance"] == pytest.approx(0.0, abs=1e-4)
        assert swapped["positive_distance"] > 0.01
        number = found[MODEL, metric, "quantifier_substitution"]
        assert (number["triplet_right"], number["triplet_low"] > 0.2, number["triplet_high"]) == (1, True, 1.0)
        assert (number["control_cases"], number["control_accuracy"], number["unrelated_cases"]) == (0, None, 1)


def test_tables_for_a_person_and_files_for_programs(triplets: Path, tmp_path: Path) -> None:
    options = ("--metric", "cosine", "--metric", "mahalanobis", "--heat-map", "out.svg")
    ran = audit(MODEL, "--triplets", triplets, *options)
    assert ran.exit_code == 0, ran.output
    assert ["quantifier_substitution", "1", "1.000", "-"] in [line.split() for line in ran.stdout.splitlines()]
    assert "no more sentences than the model has dimensions" in ran.stdout
    assert b"<svg" in (tmp_path / "out.svg").read_bytes()


# Endpoints: the first word's letters are the vector, so that texts that begin alike are close.


def embeddings(request: StubRequest) -> Act:
    assert request.path.endswith("/embeddings")
    digests = (hashlib.sha256(text.split()[0].encode()).digest() for text in request.body["input"])
    data = [{"object": "embedding", "index": place, "embedding": list(one[:8])} for place, one in enumerate(digests)]
    # Order is told by the index, not by the place.
    usage = {"prompt_tokens": 10, "total_tokens": 10}
    return Act(document={"object": "list", "data": data[::-1], "model": request.body["model"], "usage": usage})


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(script=embeddings) as endpoint:
        yield endpoint


def at(stub: StubEndpoint) -> dict[str, str]:
    return {"ASSAY_JUDGE__BASE_URL": stub.base_url, "ASSAY_JUDGE__API_KEY": "sk-secret"}


def test_a_model_behind_an_endpoint(stub: StubEndpoint, triplets: Path) -> None:
    ran = audit("openai:embed-1", "--triplets", triplets, "--metric", "cosine", "--json", **at(stub))
    found = figures(ran)["openai/embed-1", "cosine", "word_swap"]
    assert (found["triplet_cases"], found["triplet_ties"], found["triplet_right"]) == (2, 1, 0)
    assert "openai/embed-1: 1 calls, 10 tokens" in ran.stderr
    (request,) = stub.requests
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert len(request.body["input"]) == len(set(request.body["input"])) == 10


@pytest.mark.parametrize(
    ("act", "code", "told"),
    [
        (status(401, "the key sk-secret is wrong"), 2, "the model 'openai/m' is refused: "),
        (status(429, "slow down", retry_after="0"), 3, "openai/m: "),
        (Act(document={"object": "list", "data": []}), 2, "with something else than vectors"),
        (Act(kind="close"), 3, "openai/m: "),
    ],
)
def test_an_endpoint_that_gives_nothing_is_told_in_a_line(
    stub: StubEndpoint, triplets: Path, act: Act, code: int, told: str
) -> None:
    stub.play(lambda _: act)
    ran = audit("openai:m", "--triplets", triplets, **at(stub))
    assert (ran.exit_code, ran.stdout) == (code, "")
    assert told in ran.stderr
    assert "sk-secret" not in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_key_in_a_header_goes_nowhere_but_to_the_endpoint(stub: StubEndpoint, triplets: Path) -> None:
    with StubEndpoint(script=embeddings) as elsewhere:
        stub.play(lambda _: status(307, "moved", location=f"{elsewhere.base_url}/embeddings"))
        ran = audit("openai:m", "--triplets", triplets, **at(stub), ASSAY_JUDGE__EXTRA_HEADERS='{"x-key": "sk-other"}')
        assert (ran.exit_code, len(elsewhere.requests)) == (2, 0)
    assert stub.requests[0].headers["x-key"] == "sk-other"
    assert "the model 'openai/m' is refused: " in ran.stderr


# Triplets of a user's own texts.


def write(request: StubRequest) -> str:
    """Rewords by turning a sentence round, and finds triplets about pilots bad."""
    texts = request.texts
    if "negative" not in texts:
        return json.dumps({"rewording": f"It is said: {texts['text']}"})
    verdicts = {"positive_holds": "pilot" not in texts["base"], "negative_differs": True, "well_formed": True}
    return json.dumps({"reason": "I say so.", **verdicts})


def writing(base_url: str) -> dict[str, str]:
    return {"ASSAY_JUDGE__BACKEND": "openai", "ASSAY_JUDGE__BASE_URL": base_url, "ASSAY_JUDGE__MODEL": "m"}


@pytest.fixture
def writer() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=write) as endpoint:
        yield endpoint


def test_triplets_are_made_of_texts_through_the_judge(tmp_path: Path, writer: StubEndpoint) -> None:
    texts = ["In 2019 the firm sold 340 houses.", "The pilot has 12 maps.", "It rains."]
    (tmp_path / "texts").write_text("".join(f"{text}\n" for text in (*texts, texts[0])))
    ran = audit(
        MODEL, "--texts", "texts", "--relation", "quantifier_substitution",
        "--metric", "cosine", "--save-triplets", "made.jsonl", "--json", **writing(writer.base_url),
    )  # fmt: skip
    assert figures(ran)[MODEL, "cosine", "quantifier_substitution"]["triplet_cases"] == 1
    (made,) = read_triplets(tmp_path / "made.jsonl")
    assert (made.base, made.positive) == (texts[0], f"It is said: {texts[0]}")
    assert made.negative != made.base
    assert "quantifier_substitution: 1 of 3 texts gave a triplet that the judge found bad" in ran.stderr
    assert "quantifier_substitution: 1 of 3 texts have no number" in ran.stderr


def test_a_judge_that_is_away_ends_the_making_and_what_was_made_is_kept(
    tmp_path: Path, writer: StubEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.audit.triplets.ModelPatience", partial(ModelPatience, seconds=0.0))
    (tmp_path / "texts").write_text("The clerk has 12 maps.\nThe guard has 15 maps.\n")
    (tmp_path / "kept.jsonl").write_text("of an earlier day\n")
    options = ("--texts", "texts", "--relation", "quantifier_substitution", "--save-triplets", "kept.jsonl")
    assert audit(MODEL, *options, **writing(NOWHERE)).exit_code == 3
    assert (tmp_path / "kept.jsonl").read_text() == "of an earlier day\n"

    writer.play(lambda request: status(401, "no") if "guard" in str(request.body) else good())
    ran = audit(MODEL, *options, **writing(writer.base_url), ASSAY_JUDGE__CONCURRENCY="1")
    assert ran.exit_code == 3
    (kept,) = read_triplets(tmp_path / "kept.jsonl")
    assert kept.base == "The clerk has 12 maps."


def test_stores_are_audited_by_relation_and_metric(triplets: Path, postgres: Any) -> None:
    metrics = ("cosine", "euclidean")
    options = ("--model", MODEL, "--metric", "cosine", "--metric", "euclidean", "--json")
    with postgres.database("audited") as url:
        hidden = url.replace("admin@", "admin:hush@")
        ran = audit("faiss", "chroma", hidden, "--triplets", triplets, *options, what="store")
    found = figures(ran)
    relations = ("word_swap", "quantifier_substitution")
    assert list(found) == list(product(("faiss", "chroma", url), metrics, relations))
    # Of vectors of length 1 both metrics, and all stores, say the same.
    for (_, _, relation), row in found.items():
        same = [name for name in row if name.startswith(("triplet_", "control_", "unrelated_"))]
        assert [row[name] for name in same] == [found["faiss", "cosine", relation][name] for name in same]
    swap, number = (found["faiss", "cosine", relation] for relation in relations)
    assert [swap[name] for name in ("triplet_cases", "triplet_right", "control_cases")] == [2, 0, 2]
    assert (number["triplet_right"], number["unrelated_cases"]) == (1, 1)
    assert swap["positive_distance"] > swap["negative_distance"]
    assert "hush" not in ran.output


def test_a_library_that_is_not_installed_is_told_with_its_extra(
    triplets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    ran = audit("faiss", "--model", MODEL, "--triplets", triplets, what="store")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "pip install 'assay-lab[faiss]'" in ran.stderr


def test_a_store_that_is_away_is_told_without_its_password_before_the_judge_is_paid(
    tmp_path: Path, writer: StubEndpoint
) -> None:
    (tmp_path / "texts").write_text("The firm has 12 maps.\n")
    options = ("--model", MODEL, "--texts", "texts")
    address = f"postgresql://u:hush@127.0.0.1:{free_port()}/d"
    ran = audit(address, *options, what="store", **writing(writer.base_url))
    assert (ran.exit_code, ran.stdout, len(writer.requests)) == (3, "", 0)
    assert "Connection refused" in ran.stderr
    assert "hush" not in ran.stderr


WRONG = [
    (("bundled",), "either --triplets or --texts"),
    (("bundled", "--triplets", "texts"), "texts:1: record: Invalid JSON"),
    (("openai:m", "--triplets", "cases.jsonl", "--relation", "other"), "judge.base_url is not set"),
    (("bundled", "--triplets", "cases.jsonl", "--heat-map", "out.jpg"), "ends in .png, .svg, .pdf"),
    (("nowhere", "--triplets", "cases.jsonl"), "the sentence-transformers model 'nowhere' cannot be loaded"),
    (("bundled", "--texts", "texts"), "the judge cannot write, and positives must be written"),
    (("bundled", "--texts", "texts", "--relation", "other"), "no triplets can be made of it"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG, ids=[told for _, told in WRONG])
def test_wrong_use_is_told_in_a_line(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    write_triplets(tmp_path / "cases.jsonl", TRIPLETS)
    (tmp_path / "texts").write_text("One text.\n")
    ran = audit(*(MODEL if one == "bundled" else one for one in arguments))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert told in ran.stderr
    assert isinstance(ran.exception, SystemExit)
