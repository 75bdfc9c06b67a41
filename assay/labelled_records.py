"""Labelled records: those of a file, or those that the labels on their topic are about."""

import asyncio
import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import click
import orjson
from pydantic import TypeAdapter

from agents.routing import sample_point
from assay.agreement import DRAWN
from assay.cli.front_door import WrongUse
from assay.cli.topic_view import TopicView
from models.wording import counted
from schemas import Label, ReviewRequest, valid_labels
from streams.settings import StreamSettings

_HALF = 0.5


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
    # Complaints are no sample: thresholds would be those of what people complain of.
    asked = {
        each.verdict_id: (each, each.drawn_with)
        async for each in requests.messages(follow=False)
        if each.checker in checkers and each.drawn_with is not None
    }
    said: defaultdict[str, list[Label]] = defaultdict(list)
    async for label in TopicView(settings.kafka, [topics.labels], TypeAdapter(Label)).messages(follow=False):
        request, _ = asked.get(label.verdict_id, (None, 0.0))
        if request is not None and (label.kind, label.rubric_version) == ("expert", request.rubric_version):
            said[label.verdict_id].append(label)
    values = {id_: [each.value or 0.0 for each in valid_labels(labels).values()] for id_, labels in said.items()}
    means = {id_: sum(each) / len(each) for id_, each in values.items() if each}
    decided = {id_: mean > _HALF for id_, mean in means.items() if mean != _HALF}
    if not decided:
        raise WrongUse(f"there is no label on {topics.labels} of what {' or '.join(checkers)} decided; give a FILE")
    least = min(asked[id_][1] for id_ in decided)
    found, gone = [], 0
    async with RecordLookup(settings).running() as lookup:
        for id_, accept in decided.items():
            request, drawn_with = asked[id_]
            try:
                stored = await lookup.record(request.origin, request.source, request.record_id)
            except RecordGone:
                gone += 1
                continue
            # Of those that were drawn more often so many are left out that all were drawn alike.
            even = sample_point("calibrate", id_) < least / drawn_with
            told = {"label": "accept" if accept else "reject", DRAWN: [drawn_with, even]}
            found.append(orjson.loads(stored.data) | told)
    if gone:
        click.echo(f"{counted(gone, 'labelled record')} cannot be read any more", err=True)
    return found
