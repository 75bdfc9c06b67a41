"""A command prints tokens: what is read, kept and said of it, and that none of it is a secret."""

import asyncio
import contextlib
import json
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import psutil
import pytest

from streams import connection as module
from streams.connection import TokenCommand, TokenCommandFailed
from tests.support.waiting import until


def _jwt(expires: float) -> str:
    body = urlsafe_b64encode(json.dumps({"exp": time.time() + expires}).encode()).decode().rstrip("=")
    return f"e30.{body}.c2lnbmF0dXJl"


def _command(folder: Path, printed: str) -> tuple[tuple[str, ...], Path]:
    """One that notes each run and prints."""
    (folder / "printed").write_text(printed)
    runs = folder / "runs"
    return ("sh", "-c", f"echo >> {runs}; cat {folder / 'printed'}"), runs


@pytest.mark.parametrize(
    ("printed", "token", "kept"),
    [
        ("JWT", "JWT", 900),
        ('{"access_token": "a.b.c", "token_type": "Bearer", "expires_in": 3600}', "a.b.c", 3600),
        # As Azure's older endpoints answer.
        ('{"access_token": "abc", "expires_in": "3599"}', "abc", 3599),
        ('{"access_token": "JWT"}', "JWT", 60),
    ],
)
async def test_a_token_is_kept_for_four_fifths_of_its_life(tmp_path, monkeypatch, printed, token, kept):
    now = time.monotonic()
    jwt = _jwt(kept)
    command, runs = _command(tmp_path, printed.replace("JWT", jwt))
    provider = TokenCommand(command)
    found = await asyncio.gather(*(provider.token() for _ in range(5)))
    assert set(found) == {token.replace("JWT", jwt)}
    monkeypatch.setattr(module.time, "monotonic", lambda: now + kept * 0.8 - 1)
    await provider.token()
    assert len(runs.read_text()) == 1
    monkeypatch.setattr(module.time, "monotonic", lambda: now + kept * 0.8 + 60)
    await provider.token()
    assert len(runs.read_text()) == 2


FORM = r"printed no token; it prints the token alone on one line, or JSON"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["printf", ""], FORM),
        (["printf", "two words"], FORM),
        (["printf", '{"access_token": "confidential", "expires_in": "soon"}'], FORM),
        (["printf", "e30.eyJleHAiOjEwMDB9.c2ln"], "a token that has expired; is this machine's clock right?"),
        (["no-such-program"], "no-such-program cannot be run: No such file or directory"),
        (["sh", "-c", f"echo log in first; echo refused {'Ab1-' * 20} >&2; exit 3"], "status 3: refused …; see"),
    ],
)
async def test_what_is_no_token_is_told_without_what_was_printed(command, said):
    with pytest.raises(TokenCommandFailed, match=said) as failed:
        await TokenCommand(tuple(command)).token()
    assert str(failed.value).endswith("; see kafka.sasl_token_command")
    assert "confidential" not in str(failed.value)


async def test_a_command_that_hangs_is_ended_with_what_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_COMMAND_SECONDS", 0.5)
    child = tmp_path / "child"
    with pytest.raises(TokenCommandFailed, match=r"sh did not end within 0\.5 s"):
        await TokenCommand(("sh", "-c", f"sleep 1000 & echo $! > {child}; wait")).token()

    def gone() -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(int(child.read_text())).status() == psutil.STATUS_ZOMBIE
        return True

    await until(gone)
