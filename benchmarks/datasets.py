"""The public data sets as plain records: what is compared with what, and what people or other judges said of it.

Each loader yields whatever rows the files hold. A missing folder or file ends in `DataMissing`, with the path in it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from assay.cli.common import CannotRun

Task = Literal["summary", "paraphrase"]
QagsPart = Literal["cnndm", "xsum"]
ParaphraseSet = Literal["msrp_test_part", "paws_wiki"]


class DataMissing(CannotRun):
    """The data folder does not hold what a benchmark needs."""


Key = tuple[str, str, Task, tuple[str, ...] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A response and what it is compared with."""

    reference: str
    response: str
    task: Task
    sentences: tuple[str, ...] | None = None
    """The set's own sentences, where labels depend on them."""
    group: str = ""
    """The model or the domain."""
    truth: dict[str, float] = field(default_factory=dict)
    """People's scores, by name; higher is more consistent."""
    sentence_truth: tuple[bool, ...] = ()
    recorded: dict[str, float] = field(default_factory=dict)
    """Other judges' scores, by name; higher is more consistent."""

    @property
    def key(self) -> Key:
        """The part that a judge sees."""
        return self.reference, self.response, self.task, self.sentences


def rows(data: Path, *parts: str) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines.

    Raises:
        DataMissing: the file is missing, or a line of it is no JSON.
    """
    path = data.joinpath(*parts)
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        yield json.loads(line)
                    except json.JSONDecodeError as error:
                        raise DataMissing(f"{path}, line {number}: not JSON ({error.msg})") from error
    except FileNotFoundError as error:
        raise DataMissing(f"{path} is missing; --data names the folder that holds {parts[0]}/") from error


def qags(data: Path, part: QagsPart) -> list[Example]:
    """Summaries with crowd votes a sentence; truth `human` is the share of sentences a majority found supported."""
    examples = []
    for row in rows(data, "qags", f"qags_{part}.jsonl"):
        predicted = row.get("unieval_predicted") or {}
        examples.append(
            Example(
                reference=row["article"],
                response=row["summary"],
                task="summary",
                sentences=tuple(entry["sentence"] for entry in row["sentences"]),
                sentence_truth=tuple(bool(entry["majority_yes"]) for entry in row["sentences"]),
                truth={"human": float(row["human_consistency"])},
                recorded={"UniEval (recorded)": float(predicted["consistency"])} if predicted else {},
            )
        )
    return examples


def paraphrases(data: Path, name: ParaphraseSet | Literal["msrp_train_sample"]) -> list[Example]:
    """Sentence pairs; truth `same` is 1 for a paraphrase."""
    return [
        Example(
            reference=row["sentence1"],
            response=row["sentence2"],
            sentences=(row["sentence2"],),
            task="paraphrase",
            truth={"same": float(row["label"])},
        )
        for row in rows(data, "paraphrase", f"{name}.jsonl")
    ]


def faithbench(data: Path) -> list[Example]:
    """Hard summaries; three binarisations of the worst of a summary's span labels."""
    worst_first = ("Unwanted", "Questionable", "Benign")
    examples = []
    for row in rows(data, "faithbench", "faithbench.jsonl"):
        label = row["worst_label"]
        examples.append(
            Example(
                reference=row["source"],
                response=row["summary"],
                task="summary",
                group=row["llm"],
                truth={
                    f"not {'/'.join(worst_first[: k + 1])}": float(label not in worst_first[: k + 1])
                    for k in range(len(worst_first))
                },
                recorded={f"{k} (recorded)": float(v) for k, v in row["detectors"].items() if v is not None},
            )
        )
    return examples


def traffic(data: Path) -> list[Example]:
    """Summaries by deployed models, with detectors' scores and no human label."""
    sources = {row["doc"]: row["source"] for row in rows(data, "llm_summary_traffic", "documents.jsonl")}
    names = ("hhem_2_1", "trueteacher", "true_nli")
    return [
        Example(
            reference=sources[row["doc"]],
            response=row["response"] or "",
            task="summary",
            group=row["llm"],
            recorded={name: float(row[name]) for name in names if row.get(name) is not None},
        )
        for row in rows(data, "llm_summary_traffic", "responses.jsonl")
        if row["doc"] in sources
    ]


def summedits(data: Path) -> list[Example]:
    """Edited summaries of five domains; truth `consistent`."""
    return [
        Example(
            reference=row["document"],
            response=row["summary"],
            task="summary",
            group=row["domain"],
            truth={"consistent": float(row["label"])},
        )
        for domain in ("news", "qmsumm", "sales_email", "samsum", "scitldr")
        for row in rows(data, "summedits", f"{domain}.jsonl")
    ]
