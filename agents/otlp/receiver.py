"""The receiver of OTLP by HTTP: it says yes when Kafka has acknowledged every record made of a request."""

import asyncio
import hmac
import logging
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import orjson
import structlog
from aiohttp import web
from aiolimiter import AsyncLimiter
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from agents.otlp.intake import Intake
from agents.runtime import Agent, Runtime
from streams.errors import StreamError
from streams.otlp.decoding import Malformed, Signal
from streams.otlp.records import REFUSED, Made
from streams.otlp.settings import OtlpSettings
from streams.publisher import TooLarge, Undelivered

NAME: Final = "otlp-receiver"

_LARGEST: Final = 16_777_216
"""Bytes of a request, as it is sent and unpacked: 512 spans, a batch of most SDKs, of 32 kB each."""

_MOST_TIMES: Final = 1032
"""No gzip is so many times as long when it is unpacked."""

_LARGEST_TOGETHER: Final = 4 * _LARGEST
_AT_ONCE: Final = 64
"""Requests under way; collectors send ten at a time."""

_A_SECOND: Final = 100
"""Requests a second; a thousand SDKs that send every ten seconds need no collector in between."""

_REFUSALS_A_SECOND: Final = 10
"""Answers that say no; the others wait for their turn. Who sends nothing but what is refused, and sends the next when
it is, cannot take more of the processor that the worker judges with than these cost."""

_CONNECTIONS: Final = 1024
"""A thousand SDKs keep one open each."""

_SILENT_SECONDS: Final = 60.0
_BODY_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 10.0
"""SDKs wait ten seconds for an answer, and send again what has none: its records have the same ids."""

_BUSY_SECONDS: Final = 1
_AWAY_SECONDS: Final = 5

_LINGER_SECONDS: Final = 1.0
"""A sender that is refused in the middle of a body has so long to read why."""

_UNSAID: Final = logging.Logger("otlp", logging.CRITICAL + 1)  # noqa: LOG001 - none that a configuration switches on
"""In place of the server's own logger, which quotes what it cannot read."""

_PROTOBUF: Final = "application/x-protobuf"
_JSON: Final = "application/json"


_log = structlog.get_logger(__name__)


class _Refused(Exception):
    """The request is answered with this status."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class _ClosedConnection(asyncio.BaseProtocol):
    """A connection too many."""

    def connection_made(self, transport: Any) -> None:
        transport.abort()


class Receiver(Agent):
    """Serves `/v1/traces` and `/v1/logs`."""

    name = NAME

    def __init__(self, settings: OtlpSettings, intake: Intake, runtime: Runtime) -> None:
        self.topics = (runtime.settings.topics.outputs,)
        self._settings = settings
        self._intake = intake
        self._runtime = runtime
        self._metrics = runtime.metrics.agent(NAME)
        self._metrics.watch(in_flight=lambda: self._under_way, held=lambda: 0, paused=lambda: False)
        self._rate = AsyncLimiter(_A_SECOND, 1.0)
        self._refusals = AsyncLimiter(_REFUSALS_A_SECOND, 1.0)
        self._under_way = 0
        self._bytes = 0
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None
        self._silent: set[web.RequestHandler] = set()
        """New connections without a request."""

    async def start(self) -> None:
        """Listen.

        Raises:
            StreamError: the address is taken or not allowed.
        """
        app = web.Application(middlewares=[self._paced()])
        app.router.add_post("/v1/traces", self._serving("traces"))
        app.router.add_post("/v1/logs", self._serving("logs"))
        # Bodies are unpacked here, with a limit.
        runner = web.AppRunner(
            app,
            access_log=None,
            logger=_UNSAID,
            auto_decompress=False,
            # Who has gone does not wait for a refusal.
            handler_cancellation=True,
            lingering_time=_LINGER_SECONDS,
            keepalive_timeout=_SILENT_SECONDS,
            shutdown_timeout=_ANSWER_SECONDS,
        )
        await runner.setup()
        host, port = self._settings.address
        try:
            self._listening = await self._listen(cast("web.Server", runner.server), host, port)
        except OSError as error:
            await runner.cleanup()
            raise StreamError(f"cannot listen on {host}:{port} ({error.strerror}); see otlp.listen") from error
        self._runner = runner

    async def stop(self) -> None:
        """Answer what is under way."""
        runner, self._runner = self._runner, None
        if self._listening is not None:
            self._listening.close()
        if runner is not None:
            await runner.cleanup()

    async def ready(self) -> str | None:
        return None if self._runner is not None else "does not listen yet"

    async def _listen(self, server: web.Server, host: str, port: int) -> asyncio.Server:
        """Close connections beyond the limit, and those that send no whole request."""
        loop = asyncio.get_running_loop()

        def connected() -> asyncio.BaseProtocol:
            if len(server.connections) >= _CONNECTIONS:
                return _ClosedConnection()
            connection = server()
            self._silent.add(connection)
            loop.call_later(_SILENT_SECONDS, close_silent, connection)
            return connection

        def close_silent(connection: web.RequestHandler) -> None:
            if connection in self._silent:
                self._silent.remove(connection)
                connection.force_close()

        return await loop.create_server(connected, host, port)

    def _paced(self) -> Any:
        @web.middleware
        async def paced(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> Any:
            self._silent.discard(request.protocol)
            try:
                answer = await handler(request)
            except web.HTTPException:
                # No such path, no such method.
                await self._refusals.acquire()
                raise
            if answer.status >= web.HTTPBadRequest.status_code:
                await self._refusals.acquire()
            return answer

        return paced

    def _serving(self, signal: Signal) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def serve(request: web.Request) -> web.Response:
            kind = _JSON if request.content_type == _JSON else _PROTOBUF
            try:
                with self._counted():
                    made = await self._take(request, signal, json=kind == _JSON)
                answer = web.Response(body=_accepted(made, signal, kind), content_type=kind)
            except _Refused as refused:
                answer = _refusal(refused, request, kind)
            except Exception as error:  # noqa: BLE001 - the server would answer the same, and quote the body in a log
                _log.error("OTLP request failed", agent=NAME, error=type(error).__name__)
                answer = _refusal(_Refused(500, "the request failed"), request, kind)
            self._intake.metrics.requests.labels(str(answer.status)).inc()
            return answer

        return serve

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if self._under_way >= _AT_ONCE:
            raise _Refused(429, "too many requests at once", retry_after=_BUSY_SECONDS)
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    async def _take(self, request: web.Request, signal: Signal, *, json: bool) -> Made:
        self._check_token(request)
        if not self._rate.has_capacity():
            raise _Refused(429, "too many requests a second", retry_after=_BUSY_SECONDS)
        await self._rate.acquire()
        if request.content_type not in {_JSON, _PROTOBUF}:
            raise _Refused(415, f"the content type must be {_PROTOBUF} or {_JSON}")
        if (encoding := request.headers.get("Content-Encoding", "identity").lower()) not in {"gzip", "identity"}:
            raise _Refused(415, "the content encoding must be gzip, or none")
        body = bytearray()
        try:
            await self._read(request, body)
            unpack = _unpacked if encoding == "gzip" else bytes
            made = await self._intake.made(bytes(body), signal, json=json, unpack=unpack)
        except Malformed as error:
            raise _Refused(400, str(error)) from None
        finally:
            self._bytes -= len(body)
        await self._publish(made)
        if not made.records and 0 < made.refused == made.left_out.total():
            raise _Refused(400, _faults(made))
        return made

    def _check_token(self, request: web.Request) -> None:
        token = self._settings.token
        given = request.headers.get("Authorization", "").encode(errors="replace")
        if token is not None and not hmac.compare_digest(given, f"Bearer {token.get_secret_value()}".encode()):
            raise _Refused(401, "the token is missing or wrong")

    async def _read(self, request: web.Request, body: bytearray) -> None:
        if (request.content_length or 0) > _LARGEST:
            raise _Refused(413, f"longer than {_LARGEST} bytes")
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for piece in request.content.iter_any():
                    body += piece
                    self._bytes += len(piece)
                    if len(body) > _LARGEST:
                        raise _Refused(413, f"longer than {_LARGEST} bytes")
                    if self._bytes > _LARGEST_TOGETHER:
                        raise _Refused(429, "too many bytes at once", retry_after=_BUSY_SECONDS)
        except TimeoutError:
            raise _Refused(408, f"the body did not come within {_BODY_SECONDS:g} s") from None
        except web.RequestPayloadError:
            raise _Refused(400, "the body cannot be read") from None

    async def _publish(self, made: Made) -> None:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._runtime.publisher.publish(*self._intake.messages(made.records))
        except TooLarge:
            raise _Refused(400, "a record is longer than the broker takes") from None
        except (TimeoutError, Undelivered):
            raise _Refused(503, "Kafka does not acknowledge", retry_after=_AWAY_SECONDS) from None


def _refusal(refused: _Refused, request: web.Request, kind: str) -> web.Response:
    answer = web.Response(body=_status(str(refused), kind), status=refused.status, content_type=kind)
    if refused.retry_after is not None:
        answer.headers["Retry-After"] = str(refused.retry_after)
    if refused.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if not request.content.at_eof():
        # What is left of the body is not worth reading.
        answer.force_close()
    return answer


def _unpacked(body: bytes) -> bytes:
    # A member ends in its length when unpacked, if it is one; where that is a lie, unpacking ends at the limit.
    if _LARGEST < int.from_bytes(body[-4:], "little") <= _MOST_TIMES * len(body):
        raise _Refused(413, f"longer than {_LARGEST} bytes when unpacked")
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        data = unpacking.decompress(body, _LARGEST + 1)
    except zlib.error:
        raise _Refused(400, "the body is not gzip") from None
    if len(data) > _LARGEST:
        raise _Refused(413, f"longer than {_LARGEST} bytes when unpacked")
    if not unpacking.eof or unpacking.unused_data:
        raise _Refused(400, "the body is not one whole gzip member")
    return data


def _accepted(made: Made, signal: Signal, kind: str) -> bytes:
    response: Any = ExportTraceServiceResponse() if signal == "traces" else ExportLogsServiceResponse()
    if made.refused:
        rejected = "rejected_spans" if signal == "traces" else "rejected_log_records"
        setattr(response.partial_success, rejected, made.refused)
        response.partial_success.error_message = _faults(made)
    return MessageToJson(response).encode() if kind == _JSON else bytes(response.SerializeToString())


def _faults(made: Made) -> str:
    return "not whole: " + ", ".join(f"{made.left_out[reason]} {reason}" for reason in REFUSED if made.left_out[reason])


def _status(message: str, kind: str) -> bytes:
    """`google.rpc.Status` with a message of up to 127 bytes: its field 2, the length, the text."""
    if kind == _JSON:
        return orjson.dumps({"message": message})
    text = message.encode()[:127]
    return bytes([0x12, len(text)]) + text
