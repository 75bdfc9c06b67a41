"""Sentences of real prose beside themselves: whether each is proved equal without a call."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from benchmarks import datasets
from benchmarks.tables import table
from checkers.checker import Models
from checkers.consistency.sentences import split_sentences
from checkers.equivalence.checker import EquivalenceChecker
from checkers.equivalence.settings import EquivalenceSettings
from models.protocol import Answer, OracleFailed, Question, ReplyT
from models.text.tokens import tokens
from schemas import Paraphrase

COUNT = 1_000
LENGTHS = (1, 6, 11, 21, 41, 61)
"""The fewest words and marks of each class of length; the last is open."""
SEED = 20261122
WHITE_SPACE = (" ", "  ", "\t", "\n", "\u00a0")


def _spaced(sentence: str, draw: random.Random) -> str:
    """Other white space between tokens, around marks too, and around the whole."""
    parts = [sentence[token.start : token.end] for token in tokens(sentence)]
    return " " + "".join(part + draw.choice(WHITE_SPACE) for part in parts)


def _other_case(sentence: str, draw: random.Random) -> str:
    return draw.choice((str.upper, str.lower, str.title, str.swapcase))(sentence)


WAYS: dict[str, Callable[[str, random.Random], str]] = {
    "the same text": lambda sentence, _: sentence,
    "other spacing": _spaced,
    "other letter case": _other_case,
}


class _Silent:
    """A model that nobody may ask."""

    name = "silent"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        raise OracleFailed(f"{question.task} was asked", cause="judge_failed")

    async def close(self) -> None:
        """Nothing is open."""


def print_identical(data: Path) -> bool:
    """Print by length how many are proved; False if one is not, or takes a call."""
    sentences = drawn(data)
    proved = asyncio.run(_proved(sentences))
    ranges = [f"{low} to {high - 1}" for low, high in pairwise(LENGTHS)]
    rows: list[list[object]] = []
    for place, words in enumerate([*ranges, f"{LENGTHS[-1]} and more"]):
        group = [one for one in sentences if _length(one) == place]
        rows.append([words, len(group), *(sum(proved[way, one] for one in group) for way in WAYS)])
    rows.append(["all", len(sentences), *(sum(proved[way, one] for one in sentences) for way in WAYS)])
    print("Proved equal without a call, beside\n")
    print(table(["words and marks", "sentences", *WAYS], rows))
    return all(proved[way, one] for one in sentences for way in WAYS)


def drawn(data: Path) -> list[str]:
    """`COUNT` sentences of news, emails, dialogues, science and encyclopedias, as many of each length as there are."""
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for sentence in dict.fromkeys(_prose(data)):
        by_length[_length(sentence)].append(sentence)
    draw = random.Random(SEED)
    found: list[str] = []
    classes = sorted(by_length.values(), key=len)
    for place, group in enumerate(classes):
        share = (COUNT - len(found)) // (len(classes) - place)
        found += draw.sample(group, min(share, len(group)))
    return found


def _prose(data: Path) -> Iterator[str]:
    texts = [
        *(reference for one in datasets.summedits(data) for reference in one.references),
        *(reference for one in datasets.qags(data, "xsum") for reference in one.references),
        *(one.response for one in datasets.wikibio(data)),
        *(one.response for one in datasets.paraphrases(data, "msrp_test_part")),
    ]
    longest = EquivalenceSettings().max_characters
    for text in dict.fromkeys(texts):
        for sentence in (one.text for one in split_sentences(text)):
            # What is upper-cased may become longer, and what is spaced out always does.
            if 2 * len(sentence) <= longest and any(sign.isalnum() for sign in sentence):
                yield sentence


def _length(sentence: str) -> int:
    """The class of its length."""
    count = len(tokens(sentence))
    return sum(count >= low for low in LENGTHS) - 1


async def _proved(sentences: list[str]) -> Counter[tuple[str, str]]:
    """1 for each way and sentence that is proved without a call."""
    checker = EquivalenceChecker(EquivalenceSettings(), Models(judge=_Silent(), subjects={}))
    draw = random.Random(SEED)
    found: Counter[tuple[str, str]] = Counter()
    for way, change in WAYS.items():
        for sentence in sentences:
            record = Paraphrase(
                kind="paraphrase",
                source="benchmark",
                model="silent",
                sentence1=sentence,
                sentence2=change(sentence, draw),
                answer=True,
            )
            verdict = await checker.check(record)
            found[way, sentence] = int(verdict.outcome == "accept" and not verdict.usage.calls)
    await checker.close()
    return found
