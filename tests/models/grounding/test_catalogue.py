"""The judges of the catalogue, from checkpoints with random weights as the hub lays them out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from models.local_grader import LocalGrader, local_judge
from models.protocol import Claims, ModelFailed
from models.settings import LocalSettings
from tests.models.grounding.checkpoints import CHECKPOINTS, CLAIMS, DOCUMENT, keep_hhem
from tests.models.grounding.hub import empty_cache
from tests.models.grounding.setting import random_bert, spelling_tokenizer, write_checkpoint


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """An empty cache, and no way to any hub."""
    with empty_cache(tmp_path / "hub", "http://127.0.0.1:9") as folder:
        yield folder


async def graded(grader: LocalGrader, claims: Sequence[Claims]) -> list[list[float]]:
    grades = (await grader.grade("t", claims)).reply
    return [[one.support for one in each] for each in grades]


@pytest.mark.parametrize("name", CHECKPOINTS)
async def test_scores_are_those_of_the_model_on_its_own_text(cache: Path, tmp_path: Path, name: str) -> None:
    expected = CHECKPOINTS[name](cache, tmp_path / "scratch")
    grader = local_judge(LocalSettings(judge=name))

    (together,) = await graded(grader, [Claims(DOCUMENT, CLAIMS, "answer")])
    alone = [(await graded(grader, [Claims(DOCUMENT, (claim,), "answer")]))[0][0] for claim in CLAIMS]
    await grader.close()

    read = [claim if name.startswith("nli:") else " ".join(claim.split()) for claim in CLAIMS]
    assert together == pytest.approx([expected(claim) for claim in read], abs=2e-4)
    assert alone == pytest.approx(together, abs=2e-4)
    assert len(set(together)) == len(CLAIMS)


async def test_a_cross_encoder_without_a_label_for_entailment_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "model", random_bert(2), spelling_tokenizer())
    grader = local_judge(LocalSettings(judge=f"nli:{tmp_path / 'model'}"))

    with pytest.raises(ModelFailed, match="its labels are LABEL_0, LABEL_1; a judge nli:NAME needs one that begins"):
        await grader.grade("t", [Claims(DOCUMENT, CLAIMS, "answer")])
    await grader.close()


def spoil(cache: Path) -> None:
    """Take one tensor out of the weights."""
    from safetensors.torch import load, save

    (file,) = cache.glob("*vectara*/snapshots/*/model.safetensors")
    state = load(file.read_bytes())
    state.pop("t5.classifier.weight")
    file.write_bytes(save(state))


async def test_weights_of_another_model_are_refused(cache: Path, tmp_path: Path) -> None:
    keep_hhem(cache, tmp_path / "scratch")
    spoil(cache)
    grader = local_judge(LocalSettings(judge="hhem-2.1"))

    with pytest.raises(ModelFailed, match=r"not those of HHEM-2\.1-open; they differ in classifier\.weight"):
        await grader.grade("t", [Claims(DOCUMENT, CLAIMS, "answer")])
    await grader.close()


def test_a_verdict_names_the_judge_with_its_commit() -> None:
    pinned = local_judge(LocalSettings(judge="nli:a/b@0123456789abcdef0123"))
    known = local_judge(LocalSettings(judge="hhem-2.1"))

    assert pinned.name == "local/nli:a/b@0123456789ab"
    assert known.name == "local/hhem-2.1@8e4a2e6e96c7"
