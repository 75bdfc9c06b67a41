"""The first line of the page: a checker that falls behind or has stopped, before anything else."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path

import aiohttp
import pytest

from agents.checker_agent import checker_agent
from assay.config import Configuration, load_configuration
from assay.page import served_page
from assay.standing import Progress, StandingWatch
from store.settings import StoreSettings
from tests.assay.running import install, installed
from tests.support.checkers import Accept
from tests.support.page import PageStore
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.waiting import until
from tests.support.workers import agents_here
from web.settings import PageSettings

STEADY = '''
"""A checker by name alone."""

from assay import Checker, CheckerPlugin, CheckerSettings, Decision, Generation


class Steady(Checker[CheckerSettings]):
    name = "steady"
    needs = "none"

    async def decide(self, record: Generation) -> Decision:
        return Decision(accepted=True, reason="So it is.")


PLUGIN = CheckerPlugin(checker=Steady)
'''


def configured(folder: Path, servers: str, prefix: str) -> Configuration:
    install(folder / "site", module="steady", source=STEADY, entry_points={"steady": "steady:PLUGIN"})
    file = folder / "assay.toml"
    file.write_text(
        f'[kafka]\nbootstrap_servers = "{servers}"\n[topics]\nprefix = "{prefix}"\n'
        f'[store]\nurl = "sqlite:///{folder}/verdicts.db"\n[routing]\ncheckers = ["steady"]\n',
        "utf-8",
    )
    PageStore(f"sqlite:///{folder}/verdicts.db").close()
    with installed(folder / "site"):
        return load_configuration(file)


@asynccontextmanager
async def page(loaded: Configuration) -> AsyncIterator[str]:
    watched = StandingWatch(loaded, still_seconds=1.0, look_seconds=0.2, count_seconds=0.5)
    store = StoreSettings(url=loaded.store.url)
    async with served_page(store, PageSettings(port=0), loaded.streams, watched=watched) as address:
        yield address


async def shows(address: str, pattern: str) -> None:
    """Return when the words of the start page are like that."""
    words = ""

    async def there() -> bool:
        nonlocal words
        async with aiohttp.ClientSession() as session, session.get(address) as answer:
            html = re.sub(r"<style.*?</style>", "", await answer.text(), flags=re.DOTALL)
        words = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
        return re.search(pattern, words) is not None

    await until(there, lambda: words)


async def test_a_checker_that_stops_is_the_first_line_and_its_records_are_held(place: Place, tmp_path: Path):
    raw = place.settings(partitions=2)
    settings = await asyncio.to_thread(place.prepare, raw)
    loaded = configured(tmp_path, place.servers, place.prefix)
    async with page(loaded) as address:
        async with agents_here([checker_agent(Accept("steady"))], raw):
            await put(place.servers, settings.topics.outputs, map(record, range(30)), spread=True)
            await shows(address, r"Keys \? The checker keeps up: steady \. 0 wait")
            await shows(address, r"Checker Taken in Decided .* Missing steady 30 30 0 0 0 0 0 ")
        await put(place.servers, settings.topics.outputs, map(record, range(30, 35)), spread=True)
        await shows(address, r"Keys \? steady has stopped : 5 records wait, and nothing was finished since 20\d\d-")
        await shows(address, r"steady 35 30 0 0 0 5 0 ")
        async with agents_here([checker_agent(Accept("steady"))], raw):
            await shows(address, r"Keys \? The checker keeps up: steady \. 0 wait")
            await shows(address, r"steady 35 35 0 0 0 0 0 steady , by the hour Hour .* \d\d:00:00 35 35 0 0 0 0 0 ")


async def test_without_kafka_the_page_says_that_it_does_not_know(tmp_path: Path):
    async with page(configured(tmp_path, f"127.0.0.1:{free_port()}", "assay")) as address:
        await shows(address, r"Whether the checkers are at work is not known: no Kafka broker answered at 127\.0\.0\.1")
        await shows(address, r"What became of the records Not known: no Kafka broker")


@pytest.mark.parametrize(
    ("finished", "arrived", "state"),
    [
        # A look every five seconds, for two minutes.
        (lambda look: 100 * look, lambda look: 100 * look + 50, "runs"),
        (lambda look: 10 * look, lambda look: 20 * look + 200, "behind"),
        # More waits than before, and all of it is done within a minute.
        (lambda look: 100 * look, lambda look: 101 * look + 50, "runs"),
        # A backlog that shrinks.
        (lambda look: 100 * look, lambda look: 9000, "runs"),
        (lambda look: 7, lambda look: 7, "runs"),
        # Nothing came for two minutes, and then something did.
        (lambda look: 7, lambda look: 7 + (look > 23), "runs"),
        (lambda look: 7, lambda look: 8, "stopped"),
        (lambda look: min(look, 5), lambda look: 10, "stopped"),
    ],
)
def test_who_keeps_up_falls_behind_or_has_stopped(finished, arrived, state):
    progress = Progress()
    for look in range(25):
        progress.look(5.0 * look, {0: finished(look)}, {0: arrived(look), 1: 0})
    standing = progress.standing("steady", 60.0)
    assert standing.state == state
    assert standing.waiting == arrived(24) - finished(24)
