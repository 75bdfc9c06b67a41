"""Hits, a stub that matches texts, and tiny cross-encoders, for tests of the retrieval checker."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from schemas import Retrieval
from tests.support.stub_request import StubRequest


def hit(query: str = "How do I reset my password?", text: str = "What resets my password?", **fields: Any) -> Retrieval:
    """A hit of a cache; `candidates` are pairs of text and score, with the ids c1, c2 and so on."""
    candidates = [
        {"id": f"c{number}", "text": one, "score": score}
        for number, (one, score) in enumerate(fields.pop("candidates", ()), start=1)
    ]
    matched = {"id": "q-1", "text": text, "score": fields.pop("score", 0.97)}
    envelope = {"kind": "retrieval", "id": "h-1", "source": "faq-cache", "model": "embedder", "store": "cache"}
    return Retrieval.model_validate(
        {**envelope, "query": query, "matched": matched, "candidates": candidates, "metric": "cosine", **fields}
    )


def as_bytes(record: Retrieval) -> bytes:
    """As a producer would put it on the topic."""
    return record.model_dump_json(exclude_defaults=True).encode()


class StubMatcher:
    """A judge that finds a text entailed, or a question answered, where `entails` says so of premise and hypothesis."""

    def __init__(self) -> None:
        self.entails: Callable[[str, str], bool] = has_all_words

    def __call__(self, request: StubRequest) -> str:
        texts = json.loads(request.fences["texts"])
        if question := request.fences.get("question"):
            return orjson.dumps({"texts": [self._answer(*one, question) for one in enumerate(texts, start=1)]}).decode()
        query = request.fences["query"]
        replies = [
            {
                "number": number,
                "text_to_query": self._direction(text, query),
                "query_to_text": self._direction(query, text),
            }
            for number, text in enumerate(texts, start=1)
        ]
        return orjson.dumps({"texts": replies}).decode()

    def _answer(self, number: int, text: str, question: str) -> dict[str, object]:
        found = self._direction(text, question)
        return {"number": number, "reason": found["reason"], "answers": found["follows"]}

    def _direction(self, premise: str, hypothesis: str) -> dict[str, object]:
        follows = self.entails(premise, hypothesis)
        return {"reason": "All its words are there." if follows else "A word is missing.", "follows": follows}


def has_all_words(premise: str, hypothesis: str) -> bool:
    """True if every word of the hypothesis stands in the premise."""
    return _words(hypothesis) <= _words(premise)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def tiny_cross_encoder(folder: Path, labels: Sequence[str]) -> Path:
    """A BERT on disk that, by hand-set weights, gives the first label to pairs with a “not” and else the last.

    With a single label its score is low for pairs with a “not”, high for others.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*special, "not"]))
    BertTokenizerFast(str(vocabulary), model_max_length=512).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(special) + 1,
        hidden_size=2,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=2,
        max_position_embeddings=512,
        layer_norm_eps=1e-6,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            weights.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        # “not” points one way; even attention carries it to the first token, whose sign the pooler reads off.
        bert = model.bert
        bert.embeddings.word_embeddings.weight[len(special)] = torch.tensor([1.0, -1.0])
        attention = bert.encoder.layer[0].attention
        attention.self.value.weight.copy_(torch.eye(2))
        attention.output.dense.weight.copy_(torch.eye(2))
        bert.pooler.dense.weight.copy_(20 * torch.eye(2))
        model.classifier.weight[0, 0] = 8.0
        model.classifier.bias[-1] = 4.0
        if len(labels) == 1:
            model.classifier.weight[0, 0] = -8.0
    model.save_pretrained(folder)
    return folder
