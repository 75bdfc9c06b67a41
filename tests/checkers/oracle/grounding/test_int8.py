"""Judges by name with weights of 8 bits: near the full ones, made once, and the same whatever else is read."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from checkers.oracle.claims import Claims
from checkers.oracle.grounding.catalogue import named_judge
from checkers.oracle.grounding.judge import GroundingJudge
from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.model_loading import ModelUnusable
from checkers.oracle.protocol import OracleFailed
from tests.support.checkpoints import CHECKPOINTS, CLAIMS, DOCUMENT, Expected
from tests.support.grounding import believing_judge, has_words, random_bert, spelling_tokenizer, write_checkpoint
from tests.support.hub import empty_cache

# An export takes seconds of processor time, and minutes where much else runs.
pytestmark = pytest.mark.timeout(900)

NOBODY = "http://127.0.0.1:9"

NLI = "nli:somebody/nli"

OTHERS = [
    Claims("A letter. " * 30, ("It is a letter, and a long one that goes on and on.", "Yes, indeed."), "answer"),
    Claims("Nothing.", ("X.",), "answer"),
]


@dataclass
class Made:
    """A judge whose int8 network has been made."""

    cache: Path
    judge: GroundingJudge
    expected: Expected
    said: list[str]


MakeJudge = Callable[[str], Made]


@pytest.fixture(scope="session")
def int8_judge(tmp_path_factory: pytest.TempPathFactory) -> MakeJudge:
    """The judge of a name by its random checkpoint; each is made once for all tests."""
    made: dict[str, Made] = {}

    def make(name: str) -> Made:
        if name not in made:
            folder, said = tmp_path_factory.mktemp("int8"), list[str]()
            with empty_cache(folder / "hub", NOBODY) as cache:
                expected = CHECKPOINTS[name](cache, folder / "scratch")
                judge = unread(name, said.append)
                judge.load()
            made[name] = Made(cache, judge, expected, said)
        return made[name]

    return make


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    with empty_cache(tmp_path / "hub", NOBODY) as folder:
        yield folder


def unread(name: str, say: Callable[[str], None]) -> GroundingJudge:
    settings = LocalSettings(judge=name, precision="int8", threads=1)
    return GroundingJudge(named_judge(name), settings, say=say)


def broken_export(*_: object, **__: object) -> None:
    raise ValueError("it breaks off")


def scores(judge: GroundingJudge, batch: Sequence[Claims]) -> list[list[float]]:
    graded = judge.judge(batch)
    assert not any(isinstance(each, OracleFailed) for each in graded)
    return [[one.support for one in each] for each in graded if not isinstance(each, OracleFailed)]


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_scores_are_near_those_in_full_precision_whatever_else_is_read(int8_judge: MakeJudge, name: str) -> None:
    made = int8_judge(name)

    (found,) = scores(made.judge, [Claims(DOCUMENT, CLAIMS, "answer")])

    read = [claim if name.startswith("nli:") else " ".join(claim.split()) for claim in CLAIMS]
    full = [made.expected(claim) for claim in read]
    assert found == pytest.approx(full, abs=0.05)
    assert found != pytest.approx(full, abs=1e-5)
    assert len(set(found)) == len(CLAIMS)

    alone = [scores(made.judge, [Claims(DOCUMENT, (claim,), "answer")])[0][0] for claim in CLAIMS]
    *_, together = scores(made.judge, [*OTHERS, Claims(DOCUMENT, CLAIMS, "answer")])
    reversed_, *_ = scores(made.judge, [Claims(DOCUMENT, CLAIMS[::-1], "answer"), *OTHERS])
    assert alone == pytest.approx(found, abs=2e-4)
    assert together == pytest.approx(found, abs=2e-4)
    assert reversed_[::-1] == pytest.approx(found, abs=2e-4)


def test_the_network_is_made_once_and_read_without_the_full_one_after_that(
    int8_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = int8_judge(NLI)
    monkeypatch.setattr("torch.onnx.export", pytest.fail)
    monkeypatch.setattr("checkers.oracle.grounding.catalogue._classifier", pytest.fail)
    claims = [Claims(DOCUMENT, CLAIMS, "answer")]

    with empty_cache(made.cache, NOBODY):
        again = unread(NLI, pytest.fail)
        again.load()

    assert scores(again, claims) == scores(made.judge, claims)
    assert made.said[0].startswith("making the int8 network of nli:somebody/nli, once")
    (kept,) = (made.cache.parent / "assay-int8").iterdir()
    assert made.said[1] == f"the int8 network of nli:somebody/nli is kept in {kept}"


def test_another_network_in_the_same_folder_is_made_anew(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = tmp_path / "model", list[str]()
    model = random_bert(2, layers=1)
    model.config.id2label = {0: "entailment", 1: "other"}
    write_checkpoint(folder, model, spelling_tokenizer())
    unread(f"nli:{folder}", lambda _: None).load()

    model.classifier.bias.data += 1.0
    write_checkpoint(folder, model, spelling_tokenizer())
    monkeypatch.setattr("torch.onnx.export", broken_export)
    with pytest.raises(ModelUnusable, match="it breaks off"):
        unread(f"nli:{folder}", said.append).load()

    assert [message.partition(" ")[0] for message in said] == ["making"]
    assert len(list((cache.parent / "assay-int8").iterdir())) == 1


def test_a_missing_package_is_told_with_the_extra(int8_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    made = int8_judge(NLI)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with empty_cache(made.cache, NOBODY), pytest.raises(ModelUnusable, match=r"pip install 'assay\[local,onnx\]'"):
        unread(NLI, pytest.fail).load()


def test_a_network_that_onnx_cannot_express_is_refused_with_what_is_allowed(cache: Path, tmp_path: Path) -> None:
    named, _ = believing_judge(tmp_path / "model", spelling_tokenizer(), has_words)
    judge = GroundingJudge(named, LocalSettings(judge="nli:any", precision="int8", threads=1), say=lambda _: None)

    with pytest.raises(ModelUnusable, match="believer cannot be made into an int8 network") as failure:
        judge.load()

    assert "judge.local.precision = 'full', or take one of factcg, hhem-2.1" in str(failure.value)
    assert str(failure.value).isprintable()
    assert list((cache.parent / "assay-int8").iterdir()) == []


def test_a_gpu_is_not_left_idle_unasked(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CHECKPOINTS[NLI](cache, tmp_path / "scratch")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)

    with pytest.raises(ModelUnusable, match="'int8' is for the processor"):
        unread(NLI, pytest.fail).load()


def test_a_verdict_tells_the_precision() -> None:
    assert "/nli:a/b+int8+" in unread("nli:a/b", pytest.fail).name


def test_the_bundled_judge_has_none() -> None:
    with pytest.raises(ValidationError, match=r"'int8' is for factcg, hhem-2\.1, minicheck-flan-t5-large and nli:"):
        LocalSettings(precision="int8")
