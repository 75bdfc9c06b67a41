"""`assay label`: what a person says of an output that was drawn for review."""

import asyncio
import getpass
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import click
import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assay.cli.front_door import NotFinished, WrongUse, config_option, configuration, quiet_logs, told
from assay.cli.topic_view import TopicView
from checkers.wording import plain
from models.wording import counted
from schemas import Label, ReviewRequest, explain
from schemas.base import Name
from streams.settings import StreamSettings

_Said: TypeAlias = Literal["good", "bad", "unsure"]

_LISTED = 20


class SampleLabel(BaseModel):
    """A line of a file of labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Name
    record_id: Name
    label: _Said
    note: str | None = None


@click.command(short_help="Say whether an output is good.")
@click.argument("identifier", metavar="[ID]", required=False)
@click.argument("said", metavar="[good|bad|unsure]", required=False, type=click.Choice(get_args(_Said)))
@click.option("--note", metavar="TEXT", help="Why.")
@click.option("--annotator", metavar="NAME", help="Who says so. Default: the user's name on this machine.")
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='Label by a file: JSON lines with "source", "record_id" and "label".',
)
@config_option
def label(
    *,
    identifier: str | None,
    said: str | None,
    note: str | None,
    annotator: str | None,
    file: Path | None,
    config_file: Path | None,
) -> None:
    """Say whether an output is good, whatever the judge says of it. ID is that of the verdict or of the record.

    Only what was drawn for review can be labelled. Without ID, the verdicts are listed that the annotator has not
    labelled yet. The last of several labels by one person counts.
    """
    if (identifier is None) != (said is None):
        raise WrongUse("ID and what you say of it go together: assay label ID good, bad or unsure")
    if file is not None and identifier is not None:
        raise WrongUse("either ID or --from")
    by_file = {} if file is None else _read(file)
    settings = configuration(config_file).streams
    name = annotator or getpass.getuser()
    quiet_logs()
    with told():
        from streams.publisher import Undelivered

        try:
            asked = asyncio.run(_asked(settings, name, also_labelled=identifier is not None))
            if identifier is None and file is None:
                _list(asked.values())
                return
            wanted: dict[str, tuple[str, str | None]] = {}
            for key, one in asked.items():
                if said is not None and identifier in (key, one.record_id, one.id):
                    wanted[key] = said, note
                if (found := by_file.get((one.source, one.record_id))) is not None:
                    wanted[key] = found.label, found.note
            if not wanted:
                about = identifier or str(file)
                raise WrongUse(f"{plain(about)}: nobody is asked about it; `assay label` lists what people are asked")
            labels = [_label(asked[key], name, *given) for key, given in wanted.items()]
            asyncio.run(_send(settings, labels))
        except Undelivered as error:
            raise NotFinished(f"the broker took no labels: {error}") from None
    click.echo(f"{counted(len(labels), 'label')} by {plain(name)} on {settings.topics.labels}", err=True)


def _read(file: Path) -> dict[tuple[str, str], SampleLabel]:
    found = {}
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            one = SampleLabel.model_validate(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            raise WrongUse(f"{file}, line {number}: not JSON at column {error.colno}") from None
        except ValidationError as error:
            raise WrongUse(f"{file}, line {number}: {explain(error)}") from None
        found[one.source, one.record_id] = one
    return found


async def _asked(settings: StreamSettings, annotator: str, *, also_labelled: bool) -> dict[str, ReviewRequest]:
    """What people are asked, by verdict; what `annotator` has labelled as well only if `also_labelled`."""
    now = datetime.now(UTC)
    requests = TopicView(settings.kafka, [settings.topics.review_requests], TypeAdapter(ReviewRequest))
    found = {each.verdict_id: each async for each in requests.messages(follow=False) if each.expires_at > now}
    if not also_labelled:
        labels = TopicView(settings.kafka, [settings.topics.labels], TypeAdapter(Label))
        async for each in labels.messages(follow=False):
            request = found.get(each.verdict_id)
            if request is not None and (each.annotator, each.rubric_version) == (annotator, request.rubric_version):
                del found[each.verdict_id]
    return found


def _list(asked: Iterable[ReviewRequest]) -> None:
    requests = sorted(asked, key=lambda one: one.asked_at)
    for one in requests[:_LISTED]:
        about = f"{one.record_id}  {one.source} / {one.model}  by {one.checker}"
        click.echo(f"{one.verdict_id}  {one.outcome:<7} {_score(one)}  {plain(about)}")
    click.echo(f"{counted(len(requests), 'verdict')} to be labelled", err=True)
    if requests:
        click.echo("`assay verdicts --id ID` shows one with all evidence", err=True)


def _score(request: ReviewRequest) -> str:
    return "    -" if request.score is None else f"{request.score:5.2f}"


def _label(request: ReviewRequest, annotator: str, said: str, note: str | None) -> Label:
    given: Mapping[str, object] = {
        "verdict_id": request.verdict_id,
        "source": request.source,
        "model": request.model,
        "annotator": annotator,
        "label": said,
        "rubric_version": request.rubric_version,
        "note": note,
    }
    try:
        return Label.model_validate(given)
    except ValidationError as error:
        raise WrongUse(explain(error)) from None


async def _send(settings: StreamSettings, labels: Iterable[Label]) -> None:
    from streams.messages import label_message
    from streams.publisher import Publisher

    publisher = Publisher(settings)
    await publisher.start()
    try:
        await publisher.publish(*(label_message(each, settings.topics) for each in labels))
    finally:
        await publisher.stop()
