"""The judges that are known by name: where they come from, what text they were trained on, how their output is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from models.grounding.hub import Source
from models.grounding.pairs import Logits, Probabilities, softmax_of
from models.model_loading import ModelUnusable
from models.settings import NLI

_CLASSIFIER = "AutoModelForSequenceClassification"

Checkpoint = tuple[Any, Callable[[Logits], Probabilities], int]
"""A model of transformers in single precision, its probability, and how many tokens a premise and a claim may have
together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedJudge:
    """One entry of the catalogue."""

    name: str
    weights: Source
    config: Source | None = None
    """Where configuration and tokenizer are, if not with the weights."""
    words: int
    """Words of a reference in one piece: what its authors cut documents into, or what its training showed it."""
    open: Callable[[Path, Path], Checkpoint]
    """From the folders of the weights and of the configuration."""
    text: Callable[[str, str], str] | None = None
    """The one text that a premise and a claim are put into; None if they are read as a pair."""
    constant: Mapping[str, int] = field(default_factory=dict)
    """Further inputs of the network."""


def named_judge(name: str) -> NamedJudge:
    """The judge of a name other than `bundled`, as the settings have checked it."""
    if name in KNOWN:
        return KNOWN[name]
    path = name.removeprefix(NLI)
    repository, _, revision = (path, "", "") if Path(path).is_dir() else path.partition("@")
    return NamedJudge(
        name=f"{NLI}{repository}", weights=Source(repository, revision or None), words=200, open=_cross_encoder
    )


def _cross_encoder(weights: Path, config: Path) -> Checkpoint:
    from transformers import AutoConfig

    settings = AutoConfig.from_pretrained(weights, local_files_only=True)
    # Families of models order their classes differently.
    labels = settings.id2label.items()
    column = next((int(index) for index, label in labels if str(label).lower().startswith("entail")), None)
    if column is None:
        shown = ", ".join(map(str, settings.id2label.values()))
        raise ModelUnusable(f"its labels are {shown}; a judge nli:NAME needs one that begins with 'entail'")
    limit = min(512, getattr(settings, "max_position_embeddings", 512))
    return _model(_CLASSIFIER, weights), partial(softmax_of, column=column), limit


def _hhem(weights: Path, config: Path) -> Any:
    """The weights in transformers' own class: the code that is published with them breaks on current versions."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, T5ForTokenClassification

    settings = AutoConfig.from_pretrained(config, local_files_only=True)
    settings.num_labels = 2
    model = T5ForTokenClassification(settings)
    stored = load_file(weights / "model.safetensors").items()
    state = {name.removeprefix("t5."): tensor.float() for name, tensor in stored if name.startswith("t5.")}
    fit = model.load_state_dict(state, strict=False)
    # The embedding is stored once, under the name of what shares it.
    strange = {*fit.missing_keys, *fit.unexpected_keys} - {"transformer.encoder.embed_tokens.weight"}
    if strange:
        names = ", ".join(sorted(strange)[:3])
        raise ModelUnusable(f"the weights in {weights} are not those of HHEM-2.1-open; they differ in {names}")
    return model


def _model(kind: str, weights: Path) -> Any:
    """The weights as a model of transformers' class `kind`."""
    import torch
    import transformers

    return getattr(transformers, kind).from_pretrained(
        weights, local_files_only=True, use_safetensors=True, dtype=torch.float32
    )


KNOWN: Mapping[str, NamedJudge] = {
    judge.name: judge
    for judge in (
        NamedJudge(
            name="factcg",
            weights=Source("yaxili96/FactCG-DeBERTa-v3-Large", None),
            words=550,
            open=lambda weights, _: (_model(_CLASSIFIER, weights), partial(softmax_of, column=1), 2048),
            text=lambda premise, claim: (
                f"{premise}\n\nChoose your answer: based on the paragraph above can we conclude that "
                f'"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
            ),
        ),
        NamedJudge(
            name="hhem-2.1",
            weights=Source(
                "vectara/hallucination_evaluation_model",
                "8e4a2e6e96c708cc76c2344f7e4757df2515292c",
                files=("model.safetensors", "README.md"),
            ),
            config=Source(
                "google/flan-t5-base",
                "7bcac572ce56db69c1ea7c8af255c5d7c9672fc2",
                files=("config.json", "tokenizer.json", "tokenizer_config.json"),
            ),
            words=1200,
            open=lambda weights, config: (
                _hhem(weights, config),
                lambda logits: softmax_of(logits[:, 0], 1),
                2048,
            ),
            text=lambda premise, claim: (
                "<pad> Determine if the hypothesis is true given the premise?\n\n"
                f"Premise: {premise}\n\nHypothesis: {claim}"
            ),
        ),
        NamedJudge(
            name="minicheck-flan-t5-large",
            weights=Source("lytang/MiniCheck-Flan-T5-Large", "96eafd01cee2d16cf81aaa2fb226b14f422a37b3"),
            words=500,
            # The first word that is written: the ids of "0" and "1" in T5's vocabulary are 3 and 209.
            open=lambda weights, _: (
                _model("AutoModelForSeq2SeqLM", weights),
                lambda logits: softmax_of(logits[:, 0][:, [3, 209]], 1),
                2048,
            ),
            text=lambda premise, claim: f"predict: {premise}</s>{claim}",
            constant={"decoder_input_ids": 0},
        ),
    )
}
