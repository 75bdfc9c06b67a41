"""The forms in which a judge is asked whether an answer holds; each gives a support, 0.5 or more for good."""

import asyncio
import hashlib
import json
import math
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from benchmarks.endpoint.asking import Endpoint, Kept, Prompt, Spent
from benchmarks.endpoint.rows import Row
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from models.build import build_judge
from models.sentences import split_sentences
from models.settings import JudgeSettings
from schemas import Generation, Verdict

WHOLE = "Is this a right answer by the passages? Reply yes or no."
ONE = 'Sentence of the answer: "{}"\nIs the sentence right by the passages? Reply yes or no.'
NO_QUESTION = "Sum up the passages."
SHORT = 3
"""Answers of so many sentences at most are asked about as a whole."""
OPEN = 0.5
"""The support of what a judge leaves undecided."""


class Form(Protocol):
    """A way to ask about a row."""

    version: str
    """Changes with the words of its prompts."""

    def judge(self, row: Row, spent: Spent) -> float | None:
        """The row's support; None where the judge abstains."""


def support(odds: float, threshold: float = 0.0) -> float:
    """The logistic function of the odds above the threshold."""
    return 1 / (1 + math.exp(threshold - odds))


class Short:
    """One sentence, one word; refusals by whether the passages hold the answer."""

    threshold = 0.0

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        names = ("supported", "informs", "answerable", "entails")
        self._prompts = {name: Prompt.named(name) for name in names}
        self.version = "-".join(prompt.digest for prompt in self._prompts.values())

    def judge(self, row: Row, spent: Spent) -> float:
        if row.pair:
            ways = ((row.passages, row.answer), (row.answer, row.passages))
            return min(support(self._odds("entails", spent, first=one, second=other)) for one, other in ways)
        if row.question and not self._informs(row, spent):
            holds = self._odds("answerable", spent, passages=row.passages, question=row.question)
            return support(-holds)
        return support(self._supported(row, spent), self.threshold)

    def calibrate(self, kept: Kept) -> None:
        """Find the threshold by the built-in controls: half-way between the means of good and bad ones."""
        found: dict[bool, list[float]] = {True: [], False: []}
        for row in controls("threshold"):
            key = f"threshold {self._endpoint.model} {self._prompts['supported'].digest} {row.id}"
            values = kept.get(key) or kept.put(key, [self._supported(row, Spent())])
            found[row.good].append(values[0])
        self.threshold = sum(sum(odds) / len(odds) for odds in found.values()) / 2

    def _informs(self, row: Row, spent: Spent) -> bool:
        return self._odds("informs", spent, question=row.question or "", answer=row.answer) >= 0

    def _supported(self, row: Row, spent: Spent) -> float:
        sentences = [one.text for one in split_sentences(row.answer)]
        asked = [WHOLE] if len(sentences) <= SHORT else [ONE.format(sentence) for sentence in sentences]
        return min(
            self._odds(
                "supported",
                spent,
                passages=row.passages,
                question=row.question or NO_QUESTION,
                answer=row.answer,
                asked=one,
            )
            for one in asked
        )

    def _odds(self, name: str, spent: Spent, **values: str) -> float:
        return self._endpoint.odds(self._prompts[name].filled(**values), spent)


class Listed:
    """All sentences in a call, a verdict each."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._prompt = Prompt.named("supported_list")
        self.version = self._prompt.digest

    def judge(self, row: Row, spent: Spent) -> float | None:
        """The least of the verdicts; None if the reply has not one for each sentence."""
        sentences = [one.text for one in split_sentences(row.answer)] or [row.answer]
        listed = "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1))
        question = row.question or NO_QUESTION
        messages = self._prompt.filled(passages=row.passages, question=question, sentences=listed)
        reply, _ = self._endpoint.ask(messages, spent, tokens=20 + 20 * len(sentences))
        try:
            verdicts = {one["number"]: one["supported"] for one in json.loads(_bare(reply))["verdicts"]}
        except (ValueError, LookupError, TypeError):
            return None
        found = [verdicts.get(number) for number in range(1, len(sentences) + 1)]
        return float(all(found)) if all(isinstance(one, bool) for one in found) else None


def _bare(reply: str) -> str:
    return re.sub(r"^```(json)?|```$", "", reply.strip()).strip()


class Worded:
    """A prompt of others, with `{document}` and `{claim}` in it: the whole answer as one claim, yes or no."""

    def __init__(self, endpoint: Endpoint, wording: str) -> None:
        self._endpoint = endpoint
        self._wording = wording
        self.version = hashlib.sha256(wording.encode()).hexdigest()[:8]

    def judge(self, row: Row, spent: Spent) -> float:
        claim = f"{row.question or ''} {row.answer}".strip()
        words = self._wording.replace("{claim}", claim).replace("{document}", row.passages)
        return support(self._endpoint.odds([{"role": "user", "content": words}], spent))


class Checked:
    """The consistency checker at its defaults, with the judge that `settings` describe."""

    def __init__(self, settings: Mapping[str, object], *, marks_from: str = "boolean") -> None:
        self._settings = JudgeSettings.model_validate(settings)
        self._checker = ConsistencySettings.model_validate({"deadline_seconds": 3600, "marks_from": marks_from})
        self.version = "1"

    def judge(self, row: Row, spent: Spent) -> float | None:
        """The verdict's score, below one half if it rejects; None if it abstains."""
        task = "paraphrase" if row.pair else "answer" if row.question else "summary"
        record = Generation(
            kind="generation",
            source="benchmark",
            model="nobody",
            id=row.id,
            prompt=row.question,
            response=row.answer,
            reference=row.passages,
            task=task,
        )
        began = time.perf_counter()
        verdict = asyncio.run(self._check(record))
        spent.calls, spent.new, spent.written = (
            verdict.usage.calls,
            verdict.usage.prompt_tokens,
            verdict.usage.completion_tokens,
        )
        spent.seconds = time.perf_counter() - began
        if verdict.outcome == "abstain" or verdict.score is None:
            return None
        return max(verdict.score, OPEN) if verdict.outcome == "accept" else min(verdict.score, OPEN - 0.01)

    async def _check(self, record: Generation) -> Verdict:
        judge = build_judge(self._settings)
        try:
            return await ConsistencyChecker(self._checker, Models(judge=judge)).check(record)
        finally:
            await judge.close()


def controls(use: str) -> list[Row]:
    """Built-in pairs: those that find the threshold, or those of the self-test."""
    text = (Path(__file__).parent / "self_test.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [
        Row(
            id=f"control-{number}",
            passages=row["passages"],
            question=row["question"],
            answer=row["answer"],
            good=row["supported"],
            kind=row["kind"],
        )
        for number, row in enumerate(rows)
        if row["use"] == use
    ]
