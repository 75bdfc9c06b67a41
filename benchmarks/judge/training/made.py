"""Pairs made from texts: passages padded with others, sentences copied, and sentences that were changed."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.judge.training.edits import changed, kept, names
from benchmarks.judge.training.rows import ENTAILED, HELD_OUT, NEUTRAL, SHARES, UNSUPPORTED, Row
from models.text.words import passages

PROSE = (
    "fever-docnli",
    "fever-covidfact",
    "mnli-docnli",
    "factcg-doc",
    "conjnli-adv",
    "conjnli",
    "taxinli",
    "qnli-dev",
)
"""Sources whose texts are prose that can be copied from."""

Texts = Mapping[str, Sequence[Sequence[str]]]
"""Passages, as their sentences, by source."""

_MOST_WORDS = (7, 45)
"""Least and most words of a sentence that is copied."""

_FIGURE = re.compile(r"(?<![\w.,])\d[\d,.]*(?: [a-z]{3,12})?")


def padded(row: Row, others: Sequence[str], rng: random.Random) -> Row:
    """The row with sentences of other passages around its own."""
    before, after = rng.sample(others, rng.randint(0, 3)), rng.sample(others, rng.randint(0, 3))
    return Row(row.source, "\n".join([*before, row.premise, *after]), row.claim, row.label)


def copied(texts: Texts, count: int, rng: random.Random) -> Iterator[Row]:
    """Claims that are sentences of their passage, in the same or in other form, or changed in what they say."""
    for _ in range(count):
        source = rng.choice(list(texts))
        passage = _passage(texts[source], rng)
        sentence = rng.choice(passage)
        if not _MOST_WORDS[0] <= len(sentence.split()) <= _MOST_WORDS[1]:
            continue
        claim = kept(sentence, rng) if rng.random() < 0.7 else sentence
        kind = rng.random()
        if kind < 0.40:
            yield Row(f"copied {source}", "\n".join(passage), _with_another(claim, passage, rng), ENTAILED)
        elif kind < 0.95:
            around = passage if rng.random() < 0.6 else [*passage, *rng.choice(texts[source])]
            if result := changed(claim, around, rng):
                label = NEUTRAL if result[1] == "clause" else UNSUPPORTED
                yield Row(f"changed {result[1]}", "\n".join(passage), result[0], label)
        elif rest := [other for other in passage if other != sentence]:
            yield Row("sentence missing", "\n".join(rest), claim, NEUTRAL)


def _passage(passages: Sequence[Sequence[str]], rng: random.Random) -> list[str]:
    """One of the passages, with others behind it up to a length drawn."""
    found = list(rng.choice(passages))
    length = rng.randint(1, 7)
    while len(found) < length:
        found += rng.choice(passages)
    return found[:8]


def _with_another(claim: str, passage: Sequence[str], rng: random.Random) -> str:
    """In one of five, a second sentence of the passage behind the claim."""
    second = rng.choice(passage)
    if rng.random() < 0.2 and 5 <= len(second.split()) <= 25 and second not in claim:
        return f"{claim} {kept(second, rng)}"
    return claim


def supported_then_changed(rows: Sequence[Row], count: int, rng: random.Random) -> Iterator[Row]:
    """Claims that their passage supports, changed in what they say, each beside the claim as it was."""
    entailed = [row for row in rows if row.label == ENTAILED and row.source in PROSE]
    for row in rng.sample(entailed, min(count, len(entailed))):
        if result := changed(row.claim, row.premise.split("\n"), rng):
            yield Row(f"claim changed {result[1]}", row.premise, result[0], UNSUPPORTED)


def alike(texts: Texts, count: int, rng: random.Random) -> Iterator[Row]:
    """Two forms of one sentence, without a passage around: the same, or with one change."""
    for _ in range(count):
        sentence = rng.choice(rng.choice(texts[rng.choice(list(texts))]))
        if not 7 <= len(sentence.split()) <= 35:
            continue
        other = kept(sentence, rng)
        if rng.random() < 0.45:
            yield Row("alike", sentence, other, ENTAILED)
        elif result := changed(other, [sentence], rng):
            yield Row(f"unlike {result[1]}", sentence, result[0], UNSUPPORTED)


def answered(questions: Sequence[Row], others: Sequence[str], count: int, rng: random.Random) -> Iterator[Row]:
    """Short answers: a name or a figure of a sentence that answers a question, often behind the question; wrong ones.

    `questions` have the question as premise and the sentence as claim.
    """
    for row in rng.choices(questions, k=count):
        pieces = [piece for piece in _pieces(row.claim) if piece.lower() not in row.premise.lower()]
        if not pieces or len(row.claim.split()) > 60:
            continue
        body = [row.claim, *rng.sample(others, rng.randint(0, 3))]
        rng.shuffle(body)
        passage = [row.premise, *body] if rng.random() < 0.6 else body
        text = "\n".join(passage)
        claim = rng.choice(pieces) if rng.random() < 0.6 else kept(row.claim, rng)
        if rng.random() < 0.5:
            foreign = [piece for piece in _pieces(rng.choice(others)) if piece.lower() not in text.lower()]
            if claim in pieces and foreign:
                yield Row("answer elsewhere", text, rng.choice(foreign), NEUTRAL)
                continue
            if result := changed(claim, passage, rng):
                yield Row(f"answer changed {result[1]}", text, result[0], UNSUPPORTED)
                continue
        yield Row("answer", text, claim, ENTAILED)


def _pieces(sentence: str) -> list[str]:
    found = [sentence[a:b] for a, b in names(sentence)]
    return [piece for piece in [*found, *_FIGURE.findall(sentence)] if len(piece) > 1]


def all_rows(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    """What is trained on: labelled pairs, some with a longer passage, and made ones, in random order."""
    texts = {source: _texts(rows, source) for source in PROSE}
    singles = {
        source: [line for lines in found for line in lines if len(line) < 260] for source, found in texts.items()
    }
    labelled = [row for row in rows if row.source not in HELD_OUT and rng.random() < SHARES.get(row.source, 1.0)]
    labelled += [row for row in labelled if row.source in {"factcg-doc", "fever-symmetric"}]
    made = [
        *copied(texts, 35_000, rng),
        *supported_then_changed(labelled, 6_500, rng),
        *alike(texts, 13_000, rng),
        *answered(
            [row for row in rows if row.source == "qnli-dev" and row.label == ENTAILED],
            [line for lines in singles.values() for line in lines],
            9_000,
            rng,
        ),
    ]
    longer = [
        padded(row, singles[row.source], rng)
        if len(row.premise) < 400 and row.source in singles and rng.random() < 0.4
        else row
        for row in labelled
    ]
    found = [*longer, *made]
    rng.shuffle(found)
    return found


def held_out(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    """What is compared on: pairs of the sources held out, and pairs made from their texts."""
    held = [row for row in rows if row.source in HELD_OUT]
    texts = {source: _texts(held, source) for source in sorted(HELD_OUT)}
    return [*held, *copied(texts, 3_000, rng), *alike(texts, 2_500, rng)]


def _texts(rows: Sequence[Row], source: str) -> list[list[str]]:
    """The source's different passages of prose, as sentences; where premises are questions, its claims."""
    own = (row.claim if source == "qnli-dev" else row.premise for row in rows if row.source == source)
    found = ([line for line in passages(text) if len(line) > 20] for text in dict.fromkeys(own))
    return [lines for lines in found if lines]
