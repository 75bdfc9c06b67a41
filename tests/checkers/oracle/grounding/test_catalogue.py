"""The judges of the catalogue, from checkpoints with random weights as the hub lays them out."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from checkers.oracle.claims import Claims
from checkers.oracle.grounding.catalogue import KNOWN, named_judge
from checkers.oracle.grounding.grader import named_grader
from checkers.oracle.local.settings import NAMED_JUDGES, LocalSettings
from checkers.oracle.local_grader import LocalGrader
from checkers.oracle.protocol import OracleFailed
from tests.support.grounding import (
    random_bert,
    random_deberta,
    spelling_tokenizer,
    t5_config,
    t5_tokenizer,
    write_checkpoint,
)
from tests.support.hub import empty_cache, keep

DOCUMENT = "The parcel left Leipzig on Monday. It arrives on Thursday before noon."
CLAIMS = ("It left on Monday.", "It arrives\n on  Friday, and everybody is glad.", "No.")

Expected = Callable[[str], float]
"""The probability of support of one claim, by the model alone and no code of ours."""


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """An empty cache, and no way to any hub."""
    with empty_cache(tmp_path / "hub", "http://127.0.0.1:9") as folder:
        yield folder


def keep_factcg(cache: Path, scratch: Path) -> Expected:
    model, tokenizer = random_deberta({0: "LABEL_0", 1: "LABEL_1"}), spelling_tokenizer()
    keep(cache, "yaxili96/FactCG-DeBERTa-v3-Large", write_checkpoint(scratch, model, tokenizer))

    def expected(claim: str) -> float:
        text = (
            f"{DOCUMENT}\n\nChoose your answer: based on the paragraph above can we conclude that "
            f'"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
        )
        return float(logits_of(model, tokenizer(text, return_tensors="pt"))[0].softmax(-1)[1])

    return expected


def keep_hhem(cache: Path, scratch: Path) -> Expected:
    import torch
    from safetensors.torch import save
    from transformers import T5ForTokenClassification

    torch.manual_seed(2)
    model, tokenizer = T5ForTokenClassification(t5_config(num_labels=2)).eval(), t5_tokenizer()
    base = write_checkpoint(scratch, model, tokenizer)
    base.pop("model.safetensors")
    # As published: below a name of its own, the embedding stored once.
    state = {f"t5.{name}": each.clone() for name, each in model.state_dict().items() if "embed_tokens" not in name}
    weights = {"model.safetensors": save(state), "README.md": b"---\nlicense: apache-2.0\n---\n"}
    keep(cache, "google/flan-t5-base", base, commit=str(KNOWN["hhem-2.1"].config.revision))
    keep(
        cache,
        "vectara/hallucination_evaluation_model",
        weights,
        commit=str(KNOWN["hhem-2.1"].weights.revision),
    )

    def expected(claim: str) -> float:
        text = (
            "<pad> Determine if the hypothesis is true given the premise?\n\n"
            f"Premise: {DOCUMENT}\n\nHypothesis: {claim}"
        )
        return float(logits_of(model, tokenizer(text, return_tensors="pt"))[0, 0].softmax(-1)[1])

    return expected


def keep_minicheck(cache: Path, scratch: Path) -> Expected:
    import torch
    from transformers import T5ForConditionalGeneration

    torch.manual_seed(3)
    model, tokenizer = T5ForConditionalGeneration(t5_config()).eval(), t5_tokenizer()
    files = write_checkpoint(scratch, model, tokenizer)
    keep(
        cache,
        "lytang/MiniCheck-Flan-T5-Large",
        files,
        commit=str(KNOWN["minicheck-flan-t5-large"].weights.revision),
    )

    def expected(claim: str) -> float:
        given = tokenizer(f"predict: {DOCUMENT}</s>{claim}", return_tensors="pt")
        words = logits_of(model, {**given, "decoder_input_ids": torch.zeros((1, 1), dtype=torch.long)})[0, 0]
        return float(words[[3, 209]].softmax(-1)[1])

    return expected


def keep_inference(cache: Path, scratch: Path) -> Expected:
    labels = {0: "neutral", 1: "ENTAILMENT", 2: "contradiction"}
    model, tokenizer = random_deberta(labels), spelling_tokenizer()
    keep(cache, "somebody/nli", write_checkpoint(scratch, model, tokenizer))

    def expected(claim: str) -> float:
        return float(logits_of(model, tokenizer(DOCUMENT, claim, return_tensors="pt"))[0].softmax(-1)[1])

    return expected


def logits_of(model: Any, given: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(**given).logits


CHECKPOINTS = {
    "factcg": keep_factcg,
    "hhem-2.1": keep_hhem,
    "minicheck-flan-t5-large": keep_minicheck,
    "nli:somebody/nli": keep_inference,
}


async def graded(grader: LocalGrader, claims: Sequence[Claims]) -> list[list[float]]:
    grades = (await grader.grade("t", claims)).reply
    return [[one.support for one in each] for each in grades]


@pytest.mark.parametrize("name", CHECKPOINTS)
async def test_scores_are_those_of_the_model_on_its_own_text(cache: Path, tmp_path: Path, name: str) -> None:
    expected = CHECKPOINTS[name](cache, tmp_path / "scratch")
    grader = named_grader(LocalSettings(judge=name, threads=1), say=pytest.fail)

    (together,) = await graded(grader, [Claims(DOCUMENT, CLAIMS, "answer")])
    alone = [(await graded(grader, [Claims(DOCUMENT, (claim,), "answer")]))[0][0] for claim in CLAIMS]
    await grader.close()

    read = [claim if name.startswith("nli:") else " ".join(claim.split()) for claim in CLAIMS]
    assert together == pytest.approx([expected(claim) for claim in read], abs=2e-4)
    assert alone == pytest.approx(together, abs=2e-4)
    assert len(set(together)) == len(CLAIMS)


def test_the_settings_know_the_catalogue_and_its_tests_know_all_of_it() -> None:
    assert set(NAMED_JUDGES) == set(KNOWN) == set(CHECKPOINTS) - {"nli:somebody/nli"}


async def test_a_cross_encoder_without_a_label_for_entailment_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "model", random_bert(2), spelling_tokenizer())
    grader = named_grader(LocalSettings(judge=f"nli:{tmp_path / 'model'}", threads=1), say=pytest.fail)

    with pytest.raises(OracleFailed, match="its labels are LABEL_0, LABEL_1; a judge nli:NAME needs one that begins"):
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
    grader = named_grader(LocalSettings(judge="hhem-2.1", threads=1), say=pytest.fail)

    with pytest.raises(OracleFailed, match=r"not those of HHEM-2\.1-open; they differ in classifier\.weight"):
        await grader.grade("t", [Claims(DOCUMENT, CLAIMS, "answer")])
    await grader.close()


def test_an_inference_model_compares_single_texts_as_well() -> None:
    assert "entailment" in named_judge("nli:a/b").tasks
    assert not any("entailment" in KNOWN[name].tasks for name in NAMED_JUDGES)


def test_a_verdict_names_the_judge_with_its_commit() -> None:
    pinned = named_grader(LocalSettings(judge="nli:a/b@0123456789abcdef0123"), say=pytest.fail)
    spanned = named_grader(LocalSettings(judge="hhem-2.1", spans="lettucedetect"), say=pytest.fail)

    assert pinned.name.startswith("local/nli:a/b@0123456789ab+")
    assert spanned.name.startswith("local/hhem-2.1@8e4a2e6e96c7+")
    assert spanned.name.endswith("+lettucedetect")
