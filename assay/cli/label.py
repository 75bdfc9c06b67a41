"""`assay label`: a person's label of an output that was drawn for review."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import click
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agents.monitor.labels import EXPIRES_AFTER
from assay.cli.common import EXISTING, CannotRun, WrongUse, configured
from assay.config import Configuration
from assay.reports import VerdictPrinter, head, indented
from checkers.lines import read_forms
from checkers.wording import labelled, plain
from models.wording import counted
from schemas import Label, ReviewRequest, Verdict, content_id, explain, valid_labels
from schemas.base import Name
from streams.lookup import RecordGone, RecordLookup
from streams.messages import Outgoing, Publisher, label_message, request_message
from streams.settings import StreamSettings
from streams.topic_reader import TopicView

_Said: TypeAlias = Literal["good", "bad", "unsure"]

_LISTED = 20

_ABOUT = {"verdict_id", "source", "model", "annotator", "rubric_version"}
"""Fields of a label that say whose it is and of what."""


class SampleLabel(BaseModel):
    """A line of a file of labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Name
    record_id: Name
    label: _Said
    note: str | None = None


class _Review(NamedTuple):
    """A verdict that people are asked about, and their labels of it."""

    request: ReviewRequest
    people: int
    """Number of people who are asked."""
    said: Mapping[str, Label]
    """By the person."""


@click.command()
@click.argument("identifier", metavar="[ID]", required=False)
@click.argument("said", metavar="[good|bad|unsure]", required=False, type=click.Choice(get_args(_Said)))
@click.option("--note", metavar="TEXT", help="Why.")
@click.option("--undo", is_flag=True, help="Take back the annotator's label of ID.")
@click.option("--ask", is_flag=True, help="Ask people about ID, for a complaint: their labels never move the rate.")
@click.option("--annotator", metavar="NAME", envvar="ASSAY_ANNOTATOR", help="Your name or pseudonym, always the same.")
@click.option("--from", "file", type=EXISTING, help="A file of labels: JSON lines with source, record_id and label.")
@configured
def label(
    *,
    loaded: Configuration,
    identifier: str | None,
    said: str | None,
    note: str | None,
    undo: bool,
    ask: bool,
    annotator: str | None,
    file: Path | None,
) -> None:
    """Label an output as good or bad, whatever the judge says of it. ID is that of the verdict or of the record.

    Only outputs that were drawn for review can be labelled. Without ID, those that wait for a label are listed, each
    with its text and the judge's finding. The last of several labels by one person counts.
    """
    if (identifier is None) != (said is None and not undo and not ask) or (said is not None) + undo + ask > 1:
        raise WrongUse("ID and its label go together: assay label ID good, bad or unsure, --undo or --ask")
    if file is not None and identifier is not None:
        raise WrongUse("either ID or --from")
    settings = loaded.streams
    if file is None and identifier is None:
        asyncio.run(_list(loaded, annotator))
        return
    if ask and identifier is not None:
        asyncio.run(_complain(settings, identifier, loaded.labels.rubric_version))
        click.echo(f"people are asked about {plain(identifier)}", err=True)
        return
    lines = read_forms(SampleLabel, file, "label", fault=CannotRun) if file else ()
    by_file = {(one.source, one.record_id): one for one in lines}
    if annotator is None and not sys.stdin.isatty():
        raise WrongUse("who labels? Give --annotator NAME, or set ASSAY_ANNOTATOR")
    name = annotator or click.prompt("Your name or pseudonym, the same each time", err=True)
    asked = asyncio.run(_asked(settings))
    named = [one for one in asked if identifier in (one.request.verdict_id, one.request.record_id, one.request.id)]
    if undo:
        before = [each.said[name] for each in named if name in each.said]
        labels = [Label(**one.model_dump(include=_ABOUT), label=one.label, withdrawn=True) for one in before]
    else:
        labels = [_label(each.request, name, said or "", note) for each in named]
        for each in asked:
            found = by_file.get((each.request.source, each.request.record_id))
            if found is not None and name not in each.said:
                labels.append(_label(each.request, name, found.label, found.note))
    if not labels:
        fault = f"{plain(name)} has not labelled it" if named else "nobody is asked about it"
        raise WrongUse(f"{plain(identifier or str(file))}: {fault}; `assay label` lists what people are asked")
    asyncio.run(_send(settings, [label_message(each, settings.topics) for each in labels]))
    what = counted(len(labels), "label") + " taken back" * undo
    click.echo(f"{what} by {plain(name)} on {settings.topics.labels}", err=True)


async def _asked(settings: StreamSettings) -> list[_Review]:
    """Requests to people, and their labels."""
    now, topics = datetime.now(UTC), settings.topics
    found: defaultdict[tuple[str, str], list[ReviewRequest]] = defaultdict(list)
    async for each in TopicView(settings.kafka, [topics.review_requests], TypeAdapter(ReviewRequest)).messages():
        if each.expires_at > now:
            found[each.verdict_id, each.rubric_version].append(each)
    said = defaultdict[tuple[str, str], list[Label]](list)
    async for label in TopicView(settings.kafka, [topics.labels], TypeAdapter(Label)).messages():
        key = label.verdict_id, label.rubric_version
        if label.kind == "expert" and key in found:
            said[key].append(label)
    return [
        _Review(each[0], 1 + any(one.reason == "second_opinion" for one in each), valid_labels(said[key]))
        for key, each in found.items()
    ]


async def _complain(settings: StreamSettings, identifier: str, rubric_version: str) -> None:
    """Ask about the verdicts with this id or on this record."""
    topics, now = settings.topics, datetime.now(UTC)
    same = {"record_id", "source", "model", "checker", "config_digest", "outcome", "score", "origin"}
    view = TopicView(settings.kafka, [topics.accepted, topics.rejected], TypeAdapter(Verdict))
    requests = [
        ReviewRequest(
            id=content_id("req", [each.id, rubric_version, "complaint"]),
            **each.model_dump(include=same),
            verdict_id=each.id,
            stratum=each.outcome,
            inclusion_probability=None,
            reason="complaint",
            rubric_version=rubric_version,
            asked_at=now,
            expires_at=now + EXPIRES_AFTER,
            terms=None,
        )
        async for each in view.messages()
        if identifier in (each.id, each.record_id) and each.outcome != "abstain"
    ]
    if not requests:
        raise WrongUse(f"{plain(identifier)}: no accept or reject with this id is on the topics of verdicts")
    await _send(settings, [request_message(each, topics) for each in requests])


async def _list(loaded: Configuration, annotator: str | None) -> None:
    """Print the oldest open requests: the text of each and, as far as they can be read, the judge's findings."""
    asked = await _asked(loaded.streams)
    requests = [one.request for one in asked if annotator not in one.said and len(one.said) < one.people]
    shown = sorted(requests, key=lambda one: one.asked_at)[:_LISTED]
    wanted, topics = {one.verdict_id for one in shown}, loaded.streams.topics
    view = TopicView(loaded.streams.kafka, [topics.accepted, topics.rejected], TypeAdapter(Verdict))
    verdicts = {each.id: each async for each in view.messages() if each.id in wanted} if wanted else {}
    printer = VerdictPrinter([*loaded.installed.plugins.values()])
    async with RecordLookup(loaded.streams).running() as lookup:
        for one in shown:
            click.echo(head(one.outcome, one.record_id, one.score, f"{one.source} / {one.model}  by {one.checker}"))
            verdict = verdicts.get(one.verdict_id)
            lines = [] if verdict is None else printer.explanation(verdict)
            try:
                _, found = await lookup.record(one.origin, one.source, one.record_id)
                lines = [*labelled("output: ", getattr(found, "response", "")), *lines]
            except RecordGone:
                lines = [*lines, "The record is no longer on its topic."]
            click.echo("\n".join(indented(lines)))
    click.echo(f"{counted(len(requests), 'verdict')} to be labelled", err=True)
    if shown:
        click.echo("`assay label ID good` or `bad` labels one; `assay verdicts --id ID` shows all evidence", err=True)


def _label(request: ReviewRequest, annotator: str, said: str, note: str | None) -> Label:
    given = request.model_dump(include=_ABOUT) | {"annotator": annotator, "label": said, "note": note}
    try:
        return Label.model_validate(given)
    except ValidationError as error:
        raise WrongUse(explain(error)) from None


async def _send(settings: StreamSettings, messages: Iterable[Outgoing]) -> None:
    async with Publisher(settings).running() as publisher:
        await publisher.publish(*messages)
