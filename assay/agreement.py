"""Labelled records, and the agreement of a judge with people."""

import asyncio
import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import orjson
from pydantic import TypeAdapter

from agents.monitor.true_rate import Sums, agreement
from agents.routing import sample_point
from assay.cli.common import WrongUse
from assay.messages import TopicView
from models.wording import counted
from schemas import Label, ReviewRequest, valid_labels
from streams.settings import StreamSettings


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """A person's label of a record."""

    accept: bool
    probability: float
    """The sampling rate of the record."""
    even: bool
    """False if it is skipped so that the others are an even sample."""


DRAWN: Final = "assay_drawn"
"""Field of a labelled record with its sampling rate and whether it is in the even sample."""


def person_label(record: Mapping[str, Any]) -> PersonLabel:
    """The label of a record that has one."""
    drawn = record.get(DRAWN)
    probability, even = drawn if isinstance(drawn, list) and len(drawn) == 2 else (1.0, True)
    return PersonLabel(record["label"] == "accept", probability, even)


def agreed_with(verdicts: Iterable[tuple[bool, PersonLabel]]) -> dict[str, Any]:
    """Agreement of verdicts, True for an accept, with labels; as JSON."""
    sides = {True: Sums(), False: Sums()}
    agreed: list[bool] = []
    for accepts, label in verdicts:
        # Each counts for as many as it was drawn from.
        sides[accepts].verdicts += round(1 / label.probability)
        sides[accepts].add(float(label.accept), label.probability)
        agreed.append(accepts == label.accept)
    found = agreement(sides[True], sides[False], "kappa")
    return {
        "agreed": sum(agreed),
        "of": len(agreed),
        "kappa": None if found is None else found.kappa.model_dump(),
    }


def agreement_line(found: Mapping[str, Any]) -> str:
    """The agreement as a sentence."""
    said = f"agrees with your people on {found['agreed']} of {found['of']}"
    if (kappa := found["kappa"]) is not None:
        said += f" (kappa {kappa['estimate']:.2f}, {kappa['low']:.2f} to {kappa['high']:.2f})"
    return said


_HALF = 0.5


def decided(labels: Iterable[Label]) -> bool | None:
    """Whether an output is good, by people's labels of one verdict; None if they are of two minds or say nothing."""
    values = [each.value or 0.0 for each in valid_labels(labels).values()]
    mean = sum(values) / len(values) if values else _HALF
    return None if mean == _HALF else mean > _HALF


@contextlib.contextmanager
def labelled_records(settings: StreamSettings, checkers: Collection[str], file: Path | None) -> Iterator[Path]:
    """`file`, or one with the records that people were asked about for `checkers`, each with its label.

    Raises:
        WrongUse: there is no label on the topic.
        StreamError: no broker answered, or the topics are missing.
    """
    if file is not None:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / "labelled.jsonl"
        path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in asyncio.run(_labelled(settings, checkers))))
        yield path


async def _labelled(settings: StreamSettings, checkers: Collection[str]) -> list[dict[str, Any]]:
    from streams.lookup import RecordGone, RecordLookup

    topics = settings.topics
    requests = TopicView(settings.kafka, [topics.review_requests], TypeAdapter(ReviewRequest))
    # Complaints are not a sample: thresholds would be biased towards them.
    asked = {
        each.verdict_id: (each, each.drawn_with)
        async for each in requests.messages()
        if each.checker in checkers and each.drawn_with is not None
    }
    said: defaultdict[str, list[Label]] = defaultdict(list)
    async for label in TopicView(settings.kafka, [topics.labels], TypeAdapter(Label)).messages():
        request, _ = asked.get(label.verdict_id, (None, 0.0))
        if request is not None and (label.kind, label.rubric_version) == ("expert", request.rubric_version):
            said[label.verdict_id].append(label)
    found_good = {id_: good for id_, labels in said.items() if (good := decided(labels)) is not None}
    if not found_good:
        raise WrongUse(f"there is no label on {topics.labels} of a verdict by {' or '.join(checkers)}; give a FILE")
    least = min(asked[id_][1] for id_ in found_good)
    found, gone = [], 0
    async with RecordLookup(settings).running() as lookup:
        for id_, accept in found_good.items():
            request, drawn_with = asked[id_]
            try:
                stored = await lookup.record(request.origin, request.source, request.record_id)
            except RecordGone:
                gone += 1
                continue
            # Records with a higher sampling rate are skipped at random until all have the lowest.
            even = sample_point("calibrate", id_) < least / drawn_with
            added = {"label": "accept" if accept else "reject", DRAWN: [drawn_with, even]}
            found.append(orjson.loads(stored.data) | added)
    if gone:
        click.echo(f"{counted(gone, 'labelled record')} can no longer be read", err=True)
    return found
