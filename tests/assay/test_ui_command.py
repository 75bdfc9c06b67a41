"""`assay ui`: it serves the page until Ctrl-C, and says in a line why it does not."""

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr

from assay.cli.ui import served_page
from assay.config import default_configuration
from schemas import Label, Origin
from store.settings import StoreSettings
from streams.settings import StreamSettings
from tests.assay.running import assay, environment
from tests.support.labels import REQUEST
from tests.support.page import PageStore, numbered, sample
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.trust_verdicts import read_all
from web.settings import PageSettings

TOKEN = "a-token-of-some-length"


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'verdicts.db'}"
    store = PageStore(url)
    store.keep(numbered(1))
    store.close()
    return url


def test_it_serves_until_ctrl_c_and_ends_quietly(tmp_path: Path, url: str):
    command = [sys.executable, "-m", "assay", "ui", "--port", "0"]
    variables = environment(ASSAY_STORE__URL=url)
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout
        said = process.stdout.readline()
        assert re.fullmatch(r"The page is at http://127\.0\.0\.1:\d+/ until Ctrl-C\.\n", said)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "variables", "status", "said"),
    [
        ([], {}, 2, "store.url is not set: the page shows what the archivist"),
        ([], {"STORE__URL": "sqlite:///none.db"}, 3, "none.db yet; the archivist of `assay worker` makes it"),
        ([], {"STORE__URL": "postgresql://x@127.0.0.1:PORT/x"}, 3, "the store cannot be read: "),
        (["--host", "0.0.0.0"], {"STORE__URL": "URL"}, 2, "other machines can reach 0.0.0.0: set ui.token"),
        ([], {"UI__TOKEN": "fifteen-letters", "STORE__URL": "URL"}, 2, "it has 15 characters; allowed are 16 and more"),
        (["--host", "192.0.2.1"], {"UI__TOKEN": TOKEN, "STORE__URL": "URL"}, 3, "cannot listen on 192.0.2.1:8090"),
    ],
)
def test_what_keeps_it_from_serving_is_said_in_a_line(  # noqa: PLR0917
    tmp_path: Path, url: str, options: list[str], variables: dict[str, str], status: int, said: str
):
    given = {
        f"ASSAY_{name}": value.replace("URL", url).replace("PORT", str(free_port()))
        for name, value in variables.items()
    }
    ran = assay("ui", *options, cwd=tmp_path, **given)
    assert ran.returncode == status, ran.stderr
    assert said in ran.stderr
    assert TOKEN not in ran.stderr


@pytest.mark.parametrize(("redact", "shown"), [((), "lamp 4111"), ((r"\d{4}",), "lamp ████")])
async def test_a_record_is_read_back_from_its_topic_and_redacted(
    tmp_path: Path, embedded_place: Place, redact: tuple[str, ...], shown: str
):
    topic = embedded_place.checked().topics.outputs
    await put(embedded_place.servers, topic, [record(0), record(1, response="lamp 4111", source="support-bot")])
    url = f"sqlite:///{tmp_path / 'verdicts.db'}"
    store = PageStore(url)
    origin = Origin(topic=topic, partition=0, offset=1).model_dump()
    store.keep([sample("sup-05", id="ver-1", record_id="r1", origin=origin)])
    store.close()
    settings = embedded_place.checked()
    async with _page(url, None, settings, redact=redact) as (session, address):
        html = await (await session.get(f"{address}verdicts/ver-1")).text()
    assert shown in html
    assert "read back from its topic" in html


@pytest.mark.parametrize("reachable", [True, False])
async def test_an_answer_is_on_its_topic_or_it_is_said_that_none_can_be_taken(
    tmp_path: Path, embedded_place: Place, reachable: bool
):
    url, settings = f"sqlite:///{tmp_path / 'verdicts.db'}", embedded_place.checked()
    if not reachable:
        away = settings.kafka.model_copy(update={"bootstrap_servers": f"127.0.0.1:{free_port()}"})
        settings = settings.model_copy(update={"kafka": away})
    store = PageStore(url)
    store.keep([sample("sup-05", id="ver-1")])
    times = {"asked_at": datetime.now(UTC), "expires_at": datetime.now(UTC) + timedelta(days=1)}
    store.keep_message(REQUEST.model_copy(update=times))
    store.close()
    async with _page(url, None, settings) as (session, address):
        headers = {"Sec-Fetch-Site": "same-origin", "Cookie": "assay-annotator=ada"}
        async with session.get(f"{address}review", headers=headers) as answer:
            html = await answer.text()
        assert ("no Kafka broker answered at" in html) is not reachable
        async with session.post(f"{address}review", data={"verdict": "ver-1", "said": "bad"}, headers=headers) as sent:
            assert sent.status == (200 if reachable else 503)
    if reachable:
        (message,) = await read_all(embedded_place.servers, settings.topics.labels)
        label = Label.model_validate_json(message.value)
        assert (message.key, label.verdict_id, label.label) == (b"shop\x1fm", "ver-1", "bad")


@contextlib.asynccontextmanager
async def _page(
    url: str, token: SecretStr | None, streams: StreamSettings | None = None, *, redact: tuple[str, ...] = ()
) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    loaded = replace(
        default_configuration(["consistency"]),
        store=StoreSettings(url=url, redact=redact),
        streams=streams or StreamSettings(),
        ui=PageSettings(token=token),
    )
    async with served_page(loaded) as address, aiohttp.ClientSession() as session:
        yield session, address
