"""Labelling: the No-Data Algorithm with the model as labeller, next to one that tosses coins (tables 2, 3)."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Literal

from benchmarks import datasets
from benchmarks.methods.model import asked, configured, figures
from checkers.checker import Models
from checkers.labelling.checker import LabellingSettings
from lab.labelling import CorpusRun, Datapoint
from models.protocol import Answer, Question, ReplyT

_CORPORA = ("in-phenomenon", "out-of-phenomenon")
_RUBRICS = Path("examples/rubrics")
_STRATEGIES: tuple[Literal["generate", "pick"], ...] = ("generate", "pick")
_HEADS = ["corpus", "x' is", "labeller", "datapoints", "decided", "passed", "95%", "labels right", "verdict"]


def measure(options: argparse.Namespace) -> None:
    """Print for each corpus and strategy, as it comes, how many datapoints pass, and the verdict of trust."""
    print(*_HEADS, sep=" | ")
    for line in _lines(options):
        print(*line, sep=" | ", flush=True)


def _lines(options: argparse.Namespace) -> Iterator[list[object]]:
    for corpus in _CORPORA:
        file = f"{corpus.replace('-', '_')}_train.jsonl"
        rows = [(row["x"], row["y"]) for row in datasets.rows(options.data, "no_data_algorithm", file)]
        examples = options.keep.with_name(f"{corpus}.examples.jsonl")
        examples.write_text("".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in rows[: len(rows) // 2]))
        drawn = Random(1).sample(rows[len(rows) // 2 :], options.rows)
        datapoints = [Datapoint(number, x, y) for number, (x, y) in enumerate(drawn, start=1)]
        for strategy in _STRATEGIES:
            rubrics, shown = {corpus: _RUBRICS / f"{corpus}.yaml"}, {corpus: examples}
            settings = LabellingSettings(rubrics=rubrics, examples=shown, strategy=strategy)
            for name in (options.model, "coins"):
                # Each run has a separate event loop, so the model is connected again.
                with asked(options) as models:
                    labeller = Coins() if name == "coins" else models.subjects[options.model]
                    subjects = Models(judge=models.judge, subjects={options.model: labeller})
                    run = CorpusRun(datapoints, configured(options, labelling=settings), subjects, rubrics=[corpus])
                    found = figures(run).figures
                low, high = found["success_interval"] or (0.0, 1.0)
                yield [
                    corpus,
                    "made" if strategy == "generate" else "picked",
                    name,
                    *(found[key] for key in ("datapoints", "decided", "successes")),
                    f"{low:.2f} to {high:.2f}",
                    found["accuracy"],
                    found["verdict"],
                ]


class Coins:
    """A labeller that tosses a coin for each criterion, each label, each bit of x' and each choice."""

    name = "coins"

    def __init__(self) -> None:
        self._random = Random(1)

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """An answer of the form that is asked for."""
        toss = self._random.randrange
        reply: dict[str, Any] = {"reason": "", "choice": toss(5) + 1, "label": str(toss(2))}
        reply["datapoint"] = "".join(str(toss(2)) for _ in range(12))
        reply["reasons"] = [{"criterion": number, "reason": "", "holds": bool(toss(2))} for number in (1, 2, 3)]
        wanted = {name: value for name, value in reply.items() if name in question.reply.model_fields}
        return Answer(question.reply.model_validate(wanted))

    async def close(self) -> None:
        """Nothing is open."""
