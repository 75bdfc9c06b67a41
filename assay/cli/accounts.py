"""`assay accounts`: the fate of each message, by checker and hour, and whether an answer is missing."""

import asyncio
from collections.abc import Collection
from contextlib import closing
from datetime import datetime, timedelta

import click

from agents.accounts import Accounts
from assay.cli.common import configured, moment, print_report
from assay.config import Configuration
from streams.takeover import commits
from streams.topic_reader import kept_since, read_topic

MISSING = 1
"""Exit status if an answer is missing."""


async def _taken(loaded: Configuration, asked_since: datetime, names: Collection[str]) -> Accounts:
    """Count the fate of each message on the outputs topic, as far as the topics still hold answers.

    Of the checkers `names`, else of all that `routing.checkers` names or that have a consumer group, and of the
    messages that no checker checks or can read.
    """
    settings, installed = loaded.streams, loaded.installed.plugins
    topics, kafka = settings.topics, settings.kafka
    named = names or loaded.routing.checkers
    # One that checks conversations answers no single record.
    wanted = named or [name for name, plugin in installed.items() if plugin.checker.unit == "record"]
    groups = {name: f"{topics.prefix}.{name}" for name in wanted}
    # In this order: a group's committed messages were answered before, and the answers are read to their end after.
    found = await commits(kafka, topics.outputs, [*groups.values()])
    finished = {
        name: {number: (at.begun, at.offset) for number, at in found[group].items()}
        for name, group in groups.items()
        if named or found[group]
    }
    answers = (topics.accepted, topics.rejected, topics.abstained, topics.dead_letter)
    since = max(asked_since, await kept_since(kafka, *answers) or asked_since)
    kinds = frozenset[str]().union(*(installed[name].kinds for name in loaded.routing.checkers or installed))
    accounts = Accounts(
        since,
        settings,
        {name: installed[name].kinds for name in finished},
        finished,
        routing=loaded.routing,
        checked_kinds=None if names else kinds,
    )
    accounts.begins_later = since > asked_since
    with closing(accounts):
        # Different machines stamp answers and records.
        async for message in read_topic(kafka, *answers, since=since - timedelta(hours=1)):
            accounts.answer(message.topic, message.value)
        async for message in read_topic(kafka, topics.outputs, since=since):
            if message.timestamp is None or message.timestamp >= since.timestamp() * 1000:
                accounts.message(message)
    return accounts


@click.command()
@click.option("--since", type=moment, default="24h", show_default=True, metavar="T", help="How far back: 90m, 24h, 7d.")
@click.option("--checker", "checkers", multiple=True, metavar="C", help="Only this checker; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@configured
@click.pass_context
def accounts(
    ctx: click.Context, *, loaded: Configuration, since: datetime, checkers: tuple[str, ...], as_json: bool
) -> None:
    """Show the fate of each message on the outputs topic, by checker and hour of its arrival.

    A checker decided or abstained, a rule skipped the record, it became a dead letter, or it is held: not finished yet.
    An answer is missing if the consumer group has passed the record without any of these: it is lost, or was skipped by
    rules that have changed since. Everything is counted from the topics. Exit status 1 if an answer is missing.
    """
    loaded.installed.select(checkers)
    found = asyncio.run(_taken(loaded, since, checkers))
    print_report(found.summary(), found.lines(), as_json=as_json)
    if found.missing:
        ctx.exit(MISSING)
