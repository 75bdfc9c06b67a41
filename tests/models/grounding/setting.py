"""Tiny networks: with random weights, or with a script in place of weights."""

import re
import string
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from models.grounding.catalogue import NamedJudge
from models.grounding.hub import Source
from models.grounding.pairs import Logits, PairScorer, Probabilities
from tests.models.grounding.hub import files_of

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def sigmoid_of(logits: Logits) -> Probabilities:
    """The probability by a network with a single logit."""
    found: Probabilities = 0.5 * (1.0 + np.tanh(0.5 * logits.reshape(len(logits)).astype(np.float64)))
    return found


@cache
def spelling_tokenizer() -> Any:
    """A fast tokenizer of the BERT family that spells every word: a token a letter."""
    from tokenizers import models

    signs = string.ascii_lowercase + string.digits + string.punctuation
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *signs, *(f"##{sign}" for sign in signs)])}
    return _of_pairs(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=10_000))


def _of_pairs(model: Any) -> Any:
    from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=inputs, mask_token="[MASK]", **names)


def random_bert(labels: int = 1) -> Any:
    """A tiny BERT that classifies pairs, with weights large enough that its scores differ."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(spelling_tokenizer()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=512,
        initializer_range=0.4,
        num_labels=labels,
    )
    return BertForSequenceClassification(config).eval()


class ReadsItself:
    """A network that knows what it reads: `believes` tells of premise and claim if the one supports the other."""

    def __init__(self, tokenizer: Any, believes: Callable[[str, str], bool]) -> None:
        self.passes: list[list[tuple[str, str]]] = []
        """The pairs of each forward pass, in lower case."""
        self._tokenizer = tokenizer
        self._believes = believes

    def __call__(self, **inputs: Any) -> Any:
        import torch

        pairs = [
            self._pair(ids[mask == 1]) for ids, mask in zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
        ]
        self.passes.append(pairs)
        return SimpleNamespace(logits=torch.tensor([[4.0 if self._believes(*pair) else -4.0] for pair in pairs]))

    def _pair(self, ids: Any) -> tuple[str, str]:
        text = self._tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        premise, claim, _ = text.removeprefix("[CLS]").split("[SEP]")
        return premise.strip(), claim.strip()


def believing_scorer(
    believes: Callable[[str, str], bool], *, limit: int = 4000, batch_tokens: int = 8000
) -> tuple[PairScorer, ReadsItself]:
    """A scorer with such a network, that spells."""
    network = ReadsItself(spelling_tokenizer(), believes)
    scorer = PairScorer(spelling_tokenizer(), network, sigmoid_of, limit=limit, batch_tokens=batch_tokens)
    return scorer, network


def believing_judge(
    folder: Path, believes: Callable[[str, str], bool], *, words: int = 550, limit: int = 2048
) -> tuple[NamedJudge, ReadsItself]:
    """An entry of the catalogue with such a network; `folder` gets the tokenizer."""
    import torch

    network = ReadsItself(spelling_tokenizer(), believes)

    class Model(torch.nn.Module):
        def forward(self, **inputs: Any) -> Any:
            return network(**inputs)

    spelling_tokenizer().save_pretrained(folder)
    named = NamedJudge(
        name="believer", weights=Source(str(folder), None), words=words, open=lambda *_: (Model(), sigmoid_of, limit)
    )
    return named, network


def has_words(premise: str, claim: str) -> bool:
    """True if every word of the claim is in the premise."""
    return set(re.findall(r"\w+", claim)) <= set(re.findall(r"\w+", premise))


def write_checkpoint(folder: Path, model: Any, tokenizer: Any) -> dict[str, bytes]:
    """A model and its tokenizer as files by name, as a repository of the hub holds them."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return files_of(folder) | {"README.md": b"---\nlicense: mit\n---\n"}


def t5_config(**config: Any) -> Any:
    """The configuration of a tiny T5, made as Flan-T5 is."""
    from transformers import T5Config

    return T5Config(
        vocab_size=len(t5_tokenizer()),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        initializer_factor=1.0,
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        **config,
    )


@cache
def t5_tokenizer() -> Any:
    """A fast tokenizer with the special tokens of T5 that spells."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    signs = [*string.printable, "▁"]
    vocabulary = {
        token: number for number, token in enumerate(["<pad>", "</s>", "<unk>", *signs, *map(str, range(10, 150))])
    }
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=["input_ids", "attention_mask"], **names
    )
