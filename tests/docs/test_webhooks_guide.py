"""The receiver and the settings that docs/webhooks.md shows do what it says."""

import os
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agents.webhook_settings import WebhookSettings
from agents.webhooks import Target, signed_headers
from tests.assay.running import assay
from tests.support.ports import free_port
from tests.support.waiting import wait_until
from tests.support.webhook_target import SECRET

GUIDE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
BODY = b'{"type": "assay.verdict.rejected.v1", "data": {"id": "ver-1"}}'


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The receiver's address, and what it prints."""
    folder = tmp_path_factory.mktemp("receiver")
    (folder / "receiver.py").write_text(_block("python"), encoding="utf-8")
    port = free_port()
    printed = folder / "printed"
    with (
        printed.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "receiver.py"],
            cwd=folder,
            env=os.environ | {"HOOK_SECRET": SECRET, "HOOK_PORT": str(port)},
            stdout=out,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        wait_until(lambda: _listens(port))
        yield f"http://127.0.0.1:{port}/hook", printed
        process.kill()


def _listens(port: int) -> bool:
    with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


async def test_the_receiver_takes_what_is_signed_once_and_nothing_else(receiver: tuple[str, Path]):
    url, printed = receiver
    assert [await _posted(url, SECRET) for _ in range(2)] == ["taken", "taken"]
    assert printed.read_text() == "assay.verdict.rejected.v1 ver-1\n"
    assert await _posted(url, SECRET.replace("AAEC", "AAED")) == "refused"
    assert printed.read_text() == "assay.verdict.rejected.v1 ver-1\n"


def test_the_settings_are_taken_and_the_secret_is_not_shown(tmp_path: Path):
    toml = _block("toml")
    (tmp_path / "assay.toml").write_text(toml, encoding="utf-8")
    without = assay("config", "check", cwd=tmp_path)
    assert without.returncode == 2
    assert "webhooks.tuning.secret" in without.stderr
    checked = assay("config", "check", cwd=tmp_path, ASSAY_WEBHOOKS__TUNING__SECRET=SECRET)
    assert checked.returncode == 0, checked.stderr
    assert "[webhooks.tuning]" in checked.stdout
    assert SECRET.removeprefix("whsec_") not in checked.stdout + checked.stderr
    wrong = assay("config", "check", cwd=tmp_path, ASSAY_WEBHOOKS__TUNING__SECRET="whsec_confidential")
    assert wrong.returncode == 2
    assert "ASSAY_WEBHOOKS__TUNING__SECRET" in wrong.stderr
    assert "openssl rand -base64 32" in wrong.stderr
    assert "confidential" not in wrong.stderr
    name = assay("config", "check", cwd=tmp_path, ASSAY_WEBHOOKS__9__SECRET=SECRET)
    assert name.returncode == 2
    assert set(tomllib.loads(toml)["webhooks"]["tuning"]) < set(WebhookSettings.model_fields)


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert found
    return found[1]


async def _posted(url: str, secret: str) -> str:
    settings = WebhookSettings.model_validate({"url": url, "secret": secret})
    target = Target(settings.url)
    await target.start()
    try:
        return (await target.post(BODY, signed_headers("ver-1", BODY, settings.keys))).outcome
    finally:
        await target.stop()
