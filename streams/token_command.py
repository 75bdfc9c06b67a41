"""Tokens for SASL's OAUTHBEARER, printed by a command: how managed services and identity providers log in."""

import asyncio
import functools
import os
import re
import signal
import subprocess
import threading
import time
from base64 import urlsafe_b64decode
from contextlib import suppress

import orjson
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaError

_COMMAND_SECONDS = 30.0
"""The command lines of the large clouds take up to five seconds, from a cold start."""

_PAUSE_SECONDS = 5.0
"""Clients ask many times a second while they cannot connect; a command that failed is left alone for this long."""

_USED_SHARE = 0.8  # Of a token's life, as in Kafka's own clients.
_UNTOLD_SECONDS = 300.0  # Of a token that does not say how long it lives; those of Amazon MSK live 15 minutes.

_VISIBLE = re.compile(r"[\x21-\x7e]+")
_LIKE_A_SECRET = re.compile(r"[\w.+=~-]{32,}")
_LONGEST_SAID = 200


class TokenCommandFailed(KafkaError):  # type: ignore[misc]  # aiokafka is untyped
    """The command gave no token; the message says why, and never what it printed on its standard output."""

    retriable = True

    def __str__(self) -> str:
        return f"{self.args[0]}; see kafka.sasl_token_command"


class TokenCommand(AbstractTokenProvider):  # type: ignore[misc]  # aiokafka is untyped
    """Keeps a token for most of its life. For clients on any thread and event loop."""

    def __init__(self, command: tuple[str, ...], extensions: tuple[tuple[str, str], ...] = ()) -> None:
        self._command = command
        self._extensions = dict(extensions)
        self._lock = threading.Lock()
        self._kept: str | TokenCommandFailed | None = None
        self._until = 0.0

    async def token(self) -> str:
        """The kept token, or a new one, or TokenCommandFailed, now or a moment ago."""
        return await asyncio.to_thread(self._token)

    def extensions(self) -> dict[str, str]:
        return self._extensions

    def _token(self) -> str:
        with self._lock:
            if self._kept is None or time.monotonic() >= self._until:
                try:
                    self._kept, seconds = _read(self._run())
                    seconds *= _USED_SHARE
                except TokenCommandFailed as error:
                    self._kept, seconds = error, _PAUSE_SECONDS
                self._until = time.monotonic() + seconds
            if isinstance(self._kept, TokenCommandFailed):
                raise TokenCommandFailed(*self._kept.args)
            return self._kept

    def _run(self) -> bytes:
        name, pipe = self._command[0], subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603 - the operator's own command, without a shell
                self._command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise TokenCommandFailed(f"{name} cannot be run: {error.strerror}") from None
        with process:
            try:
                printed, said = process.communicate(timeout=_COMMAND_SECONDS)
            except subprocess.TimeoutExpired:
                # With what it started: its children hold the pipes open.
                os.killpg(process.pid, signal.SIGKILL)
                raise TokenCommandFailed(f"{name} did not end within {_COMMAND_SECONDS:g} s") from None
        if process.returncode != 0:
            # Its last words, without what could be a secret.
            last = _LIKE_A_SECRET.sub("…", said.decode(errors="replace").strip().rpartition("\n")[2])
            shown = "".join(sign for sign in last if sign.isprintable())[:_LONGEST_SAID]
            raise TokenCommandFailed(f"{name} ended with status {process.returncode}{shown and f': {shown}'}")
        return printed


token_command = functools.cache(TokenCommand)
"""The one that all clients of this process share."""


def _read(printed: bytes) -> tuple[str, float]:
    """Token and seconds that it lives."""
    token, seconds = printed.decode("ascii", errors="replace").strip(), None
    try:
        if token.startswith("{"):
            answer = orjson.loads(token)
            token, seconds = str(answer["access_token"]), answer.get("expires_in")
            seconds = None if seconds is None else float(seconds)
    except (ValueError, TypeError, KeyError):
        token = ""
    if not _VISIBLE.fullmatch(token):
        raise TokenCommandFailed(
            "the command printed no token; it prints the token alone on one line, or JSON as token endpoints answer: "
            '{"access_token": …, "expires_in": SECONDS}'
        )
    if seconds is None:
        # A JWT says when it ends, unless it has no `exp`; another token does not.
        with suppress(ValueError, TypeError, KeyError, IndexError):
            seconds = float(orjson.loads(urlsafe_b64decode(token.split(".")[1] + "=="))["exp"]) - time.time()
    if seconds is not None and seconds <= 0:
        raise TokenCommandFailed("the command printed a token that has expired; is this machine's clock right?")
    return token, _UNTOLD_SECONDS if seconds is None else seconds
