"""Connections to the brokers: how they are made, why none can be, and whether any broker answers.

How managed services and identity providers log in: a command prints a token for SASL's OAUTHBEARER.
"""

import asyncio
import functools
import os
import random
import re
import signal
import ssl
import subprocess
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import orjson
from aiokafka.abc import AbstractTokenProvider
from aiokafka.client import AIOKafkaClient, ConnectionGroup
from aiokafka.conn import AIOKafkaConnection, OAuthAuthenticator, create_conn
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.helpers import create_ssl_context
from aiokafka.protocol.metadata import MetadataRequest

from streams.errors import BrokerUnavailable, StreamError
from streams.settings import KafkaSettings

_ANSWER_SECONDS = 10.0
_ASK_SECONDS = 3.0
_UNANSWERED = 3
"""Questions in a row without an answer before the brokers count as away. Counted, not timed: a busy machine is late."""

_REPORT_SECONDS = 60.0

_COMMAND_SECONDS = 30.0
"""The command lines of the large clouds take up to five seconds, from a cold start."""

_TOKEN_PAUSE_SECONDS = 5.0
"""Clients ask many times a second while they cannot connect; a command that failed is left alone for this long."""

_USED_SHARE = 0.8  # Of a token's life, as in Kafka's own clients.
_UNTOLD_SECONDS = 300.0  # Of a token that does not say how long it lives; those of Amazon MSK live 15 minutes.

_VISIBLE = re.compile(r"[\x21-\x7e]+")
_LIKE_A_SECRET = re.compile(r"[\w.+=~-]{32,}")
_LONGEST_SAID = 200

Report: TypeAlias = Callable[..., object]
"""Takes what a person should know, as a method of a structlog logger does."""


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
                    self._kept, seconds = error, _TOKEN_PAUSE_SECONDS
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


class _OAuthAuthenticator(OAuthAuthenticator):  # type: ignore[misc]  # aiokafka is untyped
    """Recognises a refusal: aiokafka takes any answer to the token for a yes, and then finds no brokers."""

    async def step(self, payload: bytes | None) -> tuple[bytes, bool] | None:
        if payload:
            # RFC 7628: an answer that is not empty says why the token was refused.
            raise SaslAuthenticationFailed(payload.decode(errors="replace"))
        step: tuple[bytes, bool] | None = await super().step(payload)
        return step


AIOKafkaConnection.authenticator_oauth = lambda it: _OAuthAuthenticator(
    sasl_oauth_token_provider=it._sasl_oauth_token_provider  # noqa: SLF001
)

_send = AIOKafkaConnection.send


def _sent(connection: AIOKafkaConnection, *request: Any, **more: Any) -> Any:
    try:
        return _send(connection, *request, **more)
    except KafkaError:
        raise
    except RuntimeError as error:
        # uvloop's, of a connection that was reset a moment ago. aiokafka's tasks that meet it end, unsaid, and a
        # producer then waits for ever.
        raise KafkaConnectionError(str(error)) from error


AIOKafkaConnection.send = _sent


def connection(kafka: KafkaSettings, clients: Literal["consumer", "producer"] | None = None) -> dict[str, Any]:
    """Arguments of an aiokafka client, with the user's properties of such `clients`; StreamError names a bad file."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": kafka.servers,
        "client_id": "assay",
        "security_protocol": kafka.security_protocol,
    }
    if kafka.sasl_mechanism is not None:
        arguments["sasl_mechanism"] = kafka.sasl_mechanism
    if kafka.sasl_password is not None:
        arguments |= {
            "sasl_plain_username": kafka.sasl_username,
            "sasl_plain_password": kafka.sasl_password.get_secret_value(),
        }
    if kafka.sasl_token_command is not None:
        arguments["sasl_oauth_token_provider"] = token_command(
            kafka.sasl_token_command, tuple(kafka.sasl_extensions.items())
        )
    if kafka.security_protocol.endswith("SSL"):
        arguments["ssl_context"] = _ssl_context(kafka)
    return arguments if clients is None else arguments | kafka.properties_of(clients)


def _ssl_context(kafka: KafkaSettings) -> ssl.SSLContext:
    encrypted = False

    # Without a password OpenSSL would ask for one at the terminal.
    def password() -> str:
        nonlocal encrypted
        encrypted = True
        return "" if kafka.ssl_key_password is None else kafka.ssl_key_password.get_secret_value()

    setting = "ssl_cafile"
    try:
        context: ssl.SSLContext = create_ssl_context(cafile=kafka.ssl_cafile)
        if kafka.ssl_certfile is not None:
            setting = "ssl_certfile or kafka.ssl_keyfile"
            context.load_cert_chain(kafka.ssl_certfile, kafka.ssl_keyfile, password)
    except ssl.SSLError:
        if encrypted:
            raise StreamError("the key of kafka.ssl_keyfile is encrypted; see kafka.ssl_key_password") from None
        raise StreamError(f"kafka.{setting} is not a PEM file of that kind, or the key is another's") from None
    except OSError as error:
        raise StreamError(f"the file of kafka.{setting} cannot be read: {error.strerror}") from None
    return context


async def start(client: Any, kafka: KafkaSettings) -> None:
    """Connect."""
    try:
        await client.start()
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(
            await why_no_answer(kafka) or f"{type(error).__name__} at {kafka.bootstrap_servers}"
        ) from error


async def why_no_answer(kafka: KafkaSettings) -> str | None:
    """Why no client can connect, with the setting to look at; None if those in the settings or named by one answer."""
    fault, arguments = None, connection(kafka)
    del arguments["bootstrap_servers"]
    for server in kafka.servers:
        host, _, port = server.rpartition(":")
        try:
            async with _connection_to(host.strip("[]"), int(port), arguments) as made:
                brokers = (await made.send(MetadataRequest([]))).brokers
        except (KafkaError, OSError, EOFError) as error:
            fault = fault or _sentence(error, server, kafka)
            continue
        for _, host, port, *_ in brokers:
            try:
                async with _connection_to(host, port, arguments):
                    pass
            except (KafkaError, OSError, EOFError) as error:
                at, why = f"{host}:{port}", _sentence(error, f"{host}:{port}", kafka)
                return f"{server} answers, and names {at} (its advertised.listeners): {why}"
        return None
    return fault


@asynccontextmanager
async def _connection_to(host: str, port: int, arguments: dict[str, Any]) -> AsyncIterator[AIOKafkaConnection]:
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            connection = await create_conn(host, port, **arguments)
            try:
                yield connection
            finally:
                connection.close()
    except KafkaError as error:
        if isinstance(error.__cause__, OSError | EOFError):
            raise error.__cause__ from None
        raise


def _sentence(error: Exception, server: str, kafka: KafkaSettings) -> str:
    match error:
        case TokenCommandFailed():
            return str(error)
        case SaslAuthenticationFailed():
            said, see = f"refused the login ({error.args[0]})", "sasl_username and kafka.sasl_password"
            see = "sasl_token_command" if kafka.sasl_mechanism == "OAUTHBEARER" else see
        case UnsupportedSaslMechanismError() | IllegalSaslStateError():
            said, see = f"does not take {kafka.sasl_mechanism}", "sasl_mechanism and kafka.security_protocol"
        case ssl.SSLCertVerificationError():
            said = f"shows a certificate that is not trusted ({error.verify_message.rstrip('.')})"
            see = "ssl_cafile and kafka.bootstrap_servers"
        case ssl.SSLError(reason=str(reason)) if "_ALERT_" in reason:
            why = reason.partition("_ALERT_")[2].replace("_", " ").lower()
            said, see = f"refused the client's certificate, or that there is none ({why})", "ssl_certfile"
        case ssl.SSLError() | ConnectionResetError() | EOFError():
            said, see = f"does not speak {kafka.security_protocol}: it closed the connection", "security_protocol"
        case _:
            why = getattr(error, "strerror", None) or str(error) or "no answer in time"
            if isinstance(error, ConnectionError | TimeoutError) and error.errno:
                # In the text of asyncio there is the address once more.
                why = os.strerror(error.errno)
            at = f"no Kafka broker answered at {server} ({why})"
            return f"{at}; see kafka.bootstrap_servers and kafka.security_protocol"
    return f"the Kafka broker at {server} {said}; see kafka.{see}"


class BrokerWatch:
    """Asks the brokers at intervals; reports when none answers, then every minute, and when one answers again.

    Other requests show it too late: each waits for a minute, and those of a consumer are repeated for ever.
    """

    def __init__(self, kafka: KafkaSettings, report: Report) -> None:
        """`report` is called with the event, the brokers' addresses, when one answered last, and why none does."""
        self._kafka = kafka
        self._report = report
        self._asked: set[int] = set()
        self._unanswered = 0
        self._reported_at: float | None = None
        """By the monotonic clock; None while one answers."""
        self.last_answer = time.time()
        """Time of the last answer, in seconds since 1970."""

    @property
    def fault(self) -> str | None:
        """Which brokers do not answer and since when; None while one does."""
        if self._unanswered <= _UNANSWERED:
            return None
        return f"no answer from {self._kafka.bootstrap_servers} since {self._since}"

    @property
    def _since(self) -> str:
        return f"{datetime.fromtimestamp(self.last_answer, UTC):%Y-%m-%dT%H:%M:%SZ}"

    async def run(self, client: AIOKafkaClient) -> None:
        """Ask by way of `client`, which is started, until cancelled."""
        self._heard()
        async with asyncio.TaskGroup() as group:
            while True:
                self._unanswered += 1
                now, before = time.monotonic(), self._reported_at
                if self.fault is not None and (before is None or now - before >= _REPORT_SECONDS):
                    self._reported_at = now
                    group.create_task(self._report_why())
                # Not awaited: a broker that takes a question and is silent keeps it for a minute; others may answer.
                group.create_task(self._ask(client))
                await asyncio.sleep(_ASK_SECONDS)

    async def _ask(self, client: AIOKafkaClient) -> None:
        nodes = [broker.nodeId for broker in client.cluster.brokers() if broker.nodeId not in self._asked]
        for node in random.sample(nodes, len(nodes)):
            self._asked.add(node)
            try:
                # On a separate connection: behind a verdict that waits for replicas nothing is answered.
                await client.send(node, MetadataRequest([]), group=ConnectionGroup.COORDINATION)
            except KafkaError:
                continue
            finally:
                self._asked.discard(node)
            return self._heard()
        return None

    def _heard(self) -> None:
        self._unanswered = 0
        if self._reported_at is not None:
            self._reported_at = None
            self._report("Kafka answers again", servers=self._kafka.bootstrap_servers, since=self._since)
        self.last_answer = time.time()

    async def _report_why(self) -> None:
        try:
            why = await why_no_answer(self._kafka)
        except StreamError as error:
            why = str(error)
        if self._reported_at is not None:
            servers = self._kafka.bootstrap_servers
            self._report("Kafka does not answer", servers=servers, since=self._since, why=why)
