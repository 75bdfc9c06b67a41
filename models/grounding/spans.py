"""LettuceDetect: which stretches of a response nothing in the reference supports, as evidence beside a judge's grades.

https://arxiv.org/abs/2502.17125. It marks tokens as unsupported by the prompt before them, which holds one piece of the
reference; a token counts as unsupported only if no piece supports it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from models.claims import ClaimKind, Claims, Judgement
from models.grounding.hub import Say, Source, fetched
from models.grounding.pairs import Logits, PairReader, Row, TorchNetwork, size_of
from models.grounding.pieces import halves_of, pieces_of
from models.local.settings import LocalSettings
from models.local_grader import ClaimModel, Graded, Wanted, always
from models.model_loading import loading
from models.protocol import OracleFailed

LETTUCEDETECT = Source("KRLabsOrg/lettucedect-large-modernbert-en-v1", None)

KINDS = frozenset({ClaimKind.SUMMARY, ClaimKind.ANSWER, ClaimKind.PARAPHRASE})

LIMIT = 4096
"""Tokens of a prompt and a response together: what it was trained on."""

_WORDS = 2400
"""Words of a piece: with the response they mostly fit."""

_LEFT_FOR_PIECE = 1 / 4
"""Of the limit, at least; a longer response is read in several parts."""

_LEAST_ROOM = LIMIT // 8
"""Tokens for a piece behind a long question; in less, hundreds of pieces would be read."""

_SHOWN = 3
"""Stretches that a reason names."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Sentences of an entry that are read together as a response."""

    owner: int
    sentences: tuple[int, ...]
    text: str
    starts: tuple[int, ...]
    """Where each of the sentences begins in `text`."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A part behind a prompt with one piece of the reference."""

    part: int
    row: Row
    places: list[int]
    """Of the tokens of the part in the row."""
    offsets: list[tuple[int, int]]
    """Of these tokens in the part's text."""


class SpanDetector:
    """A token classifier that reads a prompt and a response, of which it tells what the prompt does not support."""

    def __init__(self, tokenizer: Any, reader: PairReader) -> None:
        """`reader` has the same tokenizer, and a network whose logits are (rows, width, 2)."""
        self._tokenizer = tokenizer
        self._reader = reader

    def spans(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[list[tuple[str, ...]]]:
        """For each sentence of each entry its stretches that nothing in the reference supports, word for word.

        None are told of a sentence that alone is too long to be read, nor where the question leaves too little room.
        """
        parts = [part for owner, claims in enumerate(batch) for part in self._parts(owner, claims)]
        readings = [
            reading for number, part in enumerate(parts) for reading in self._readings(number, part, batch[part.owner])
        ]
        supported: dict[int, npt.NDArray[np.bool_]] = {}
        for taken in self._reader.batches([reading.row for reading in readings]):
            kept = [readings[index] for index in taken if wanted(parts[readings[index].part].owner)]
            if not kept:
                continue
            logits = self._reader.logits([reading.row for reading in kept])
            for reading, own in zip(kept, logits, strict=True):
                by_piece = _supported(parts[reading.part].text, reading, own)
                supported[reading.part] = supported.get(reading.part, False) | by_piece
        found: list[list[tuple[str, ...]]] = [[()] * len(claims.sentences) for claims in batch]
        for number, marks in supported.items():
            part = parts[number]
            ends = [*part.starts[1:], len(part.text) + 1]
            for index, start, end in zip(part.sentences, part.starts, ends, strict=True):
                found[part.owner][index] = _stretches(part.text[start : end - 1], ~marks[start : end - 1])
        return found

    def _parts(self, owner: int, claims: Claims) -> list[_Part]:
        sentences = [self._reader.plain(sentence) for sentence in claims.sentences]
        groups = [list(range(len(sentences)))] if sentences else []
        parts: list[_Part] = []
        while groups:
            group = groups.pop(0)
            text = " ".join(sentences[index] for index in group)
            if len(self._tokenizer(text, verbose=False)["input_ids"]) <= LIMIT * (1 - _LEFT_FOR_PIECE):
                lengths = [len(sentences[index]) + 1 for index in group]
                starts = tuple(sum(lengths[:place]) for place in range(len(group)))
                parts.append(_Part(owner, tuple(group), text, starts))
            elif len(group) > 1:
                groups[:0] = [group[: len(group) // 2], group[len(group) // 2 :]]
        return parts

    def _readings(self, number: int, part: _Part, claims: Claims) -> list[_Reading]:
        if size_of(self._reading(number, _prompt(claims, "", self._reader), part.text).row) > LIMIT - _LEAST_ROOM:
            return []
        readings: list[_Reading] = []
        todo = pieces_of(self._reader.plain(claims.reference), _WORDS)
        while todo:
            piece = todo.pop(0)
            reading = self._reading(number, _prompt(claims, piece, self._reader), part.text)
            if size_of(reading.row) <= LIMIT:
                readings.append(reading)
            else:
                todo[:0] = halves_of(piece)
        return readings

    def _reading(self, number: int, prompt: str, text: str) -> _Reading:
        encoded = self._tokenizer(prompt, text, truncation=False, return_offsets_mapping=True, verbose=False)
        places = [place for place, sequence in enumerate(encoded.sequence_ids(0)) if sequence == 1]
        offsets = [encoded["offset_mapping"][place] for place in places]
        row = {name: list(encoded[name]) for name in encoded if name != "offset_mapping"}
        return _Reading(number, row, places, offsets)


class SpannedJudge:
    """A judge whose reasons name the stretches that the detector marks; its grades stay as they are."""

    def __init__(self, judge: ClaimModel, settings: LocalSettings, *, say: Say) -> None:
        """`say` is told about downloads, on the thread that loads."""
        self._judge = judge
        self._settings = settings
        self._say = say
        self._detector: SpanDetector | None = None

    def load(self) -> None:
        """Download the detector if it is not kept, and read its weights.

        Raises:
            ModelUnusable: it cannot be had.
        """
        folder = fetched(LETTUCEDETECT, self._say)
        with loading("detector", LETTUCEDETECT.repository):
            import torch
            from transformers import AutoModelForTokenClassification, AutoTokenizer

            model = AutoModelForTokenClassification.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
            )
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            network = TorchNetwork(model, device="cuda" if torch.cuda.is_available() else "cpu")
            reader = PairReader(tokenizer, network, limit=LIMIT, batch_tokens=self._settings.batch_pieces)
            self._detector = SpanDetector(tokenizer, reader)

    def judge(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[Graded]:
        """The judge's grades, with the detector's stretches before their reasons."""
        if self._detector is None:
            raise RuntimeError("the detector is not loaded")
        graded = self._judge.judge(batch, wanted)
        own = [
            index
            for index, result in enumerate(graded)
            if not isinstance(result, OracleFailed) and batch[index].kind in KINDS and wanted(index)
        ]
        found = self._detector.spans([batch[index] for index in own], lambda place: wanted(own[place]))
        spans = dict(zip(own, found, strict=True))
        return [_named(result, spans.get(index)) for index, result in enumerate(graded)]


def _named(result: Graded, spans: Sequence[tuple[str, ...]] | None) -> Graded:
    if isinstance(result, OracleFailed) or spans is None or not result:
        return result
    return tuple(_with_stretches(judgement, own) for judgement, own in zip(result, spans, strict=True))


def _with_stretches(judgement: Judgement, stretches: tuple[str, ...]) -> Judgement:
    if not stretches:
        return judgement
    told = ", ".join(f"“{stretch}”" for stretch in stretches[:_SHOWN])
    more = f" and {len(stretches) - _SHOWN} more" if len(stretches) > _SHOWN else ""
    return replace(judgement, reason=f"lettucedetect finds no support for {told}{more}; {judgement.reason}")


def _prompt(claims: Claims, piece: str, reader: PairReader) -> str:
    """The prompts that it was trained on, from RAGTruth: of a summary, and of an answer from passages."""
    if claims.kind is not ClaimKind.ANSWER or not claims.prompt:
        return f"Summarize the following text:\n{piece}\noutput:"
    return (
        f"Briefly answer the following question:\n{reader.plain(claims.prompt)}\n"
        "Bear in mind that your response should be strictly based on the following 1 passages:\n"
        f"passage 1: {piece}\n"
        "In case the passages do not contain the necessary information to answer the question, please reply with: "
        '"Unable to answer based on given passages."\noutput:'
    )


def _supported(text: str, reading: _Reading, logits: Logits) -> npt.NDArray[np.bool_]:
    """For each character of a part, False if it is in a token that the piece does not support; `logits` (width, 2)."""
    supported = np.ones(len(text), dtype=bool)
    for (start, end), (inside, outside) in zip(reading.offsets, logits[reading.places], strict=True):
        supported[start:end] &= bool(inside > outside)
    return supported


def _stretches(text: str, marked: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """The marked parts of a text, each up to the ends of its words; parts with only white space between are one."""
    words = [found.span() for found in re.finditer(r"\S+", text)]
    runs = groupby(words, key=lambda word: bool(marked[slice(*word)].any()))
    spans = [list(run) for is_marked, run in runs if is_marked]
    return tuple(text[span[0][0] : span[-1][1]] for span in spans)
