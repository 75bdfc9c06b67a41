"""Tiny networks with random weights, as the hub lays models out."""

import string
from functools import cache
from typing import Any


@cache
def spelling_tokenizer() -> Any:
    """A fast tokenizer of the BERT family that spells every word: a token a letter."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    signs = string.ascii_lowercase + string.digits + string.punctuation
    vocabulary = {token: number for number, token in enumerate([*special, *signs, *(f"##{sign}" for sign in signs)])}
    spelling = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=10_000))
    spelling.normalizer = normalizers.BertNormalizer()
    spelling.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    spelling.decoder = decoders.WordPiece()
    spelling.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=spelling, model_input_names=inputs, mask_token="[MASK]", **names)


def random_bert(labels: int = 1, *, seed: int = 0, positions: int = 512) -> Any:
    """A tiny BERT that classifies pairs, with weights large enough that its scores differ."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(spelling_tokenizer()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.4,
        num_labels=labels,
    )
    return BertForSequenceClassification(config).eval()
