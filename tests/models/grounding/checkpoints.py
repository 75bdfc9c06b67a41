"""A judge of the catalogue each, with random weights, in the cache of the hub."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.grounding.catalogue import KNOWN
from tests.models.grounding.hub import keep
from tests.models.grounding.setting import random_bert, spelling_tokenizer, t5_config, t5_tokenizer, write_checkpoint

DOCUMENT = "The parcel left Leipzig on Monday. It arrives on Thursday before noon."
CLAIMS = ("It left on Monday.", "It arrives\n on  Friday, and everybody is glad.", "No.")

Expected = Callable[[str], float]
"""The probability of support of one claim, by the model alone and no code of ours."""


def keep_factcg(cache: Path, scratch: Path) -> Expected:
    model, tokenizer = random_bert(2), spelling_tokenizer()
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
    model, tokenizer = random_bert(3), spelling_tokenizer()
    model.config.id2label = {0: "neutral", 1: "ENTAILMENT", 2: "contradiction"}
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
