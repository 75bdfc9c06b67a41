"""An endpoint that takes OTLP's log records, as a backend for traces does."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.support.ports import serving


@dataclass
class Endpoint:
    """An endpoint of OTLP for logs, which answers as it is told."""

    answer: Callable[[ExportLogsServiceRequest], web.Response] = lambda _: web.Response()
    port: int = 0
    requests: list[ExportLogsServiceRequest] = field(default_factory=list)
    """Those that it took."""
    headers: Any = None
    refused: int = 0

    @property
    def events(self) -> list[dict[str, Any]]:
        return [plain(record) for request in self.requests for record in records_of(request)]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        async with serving("/base/v1/logs", self._handle, self.port) as self.port:
            yield f"http://127.0.0.1:{self.port}/base"

    async def _handle(self, request: web.Request) -> web.Response:
        read = ExportLogsServiceRequest.FromString(await request.read())
        self.headers = request.headers
        answer = self.answer(read)
        if answer.status == 200:
            self.requests.append(read)
        else:
            self.refused += 1
        return answer


def records_of(request: ExportLogsServiceRequest) -> list[Any]:
    """The log records of a request."""
    return [
        record for resource in request.resource_logs for scope in resource.scope_logs for record in scope.log_records
    ]


def plain(record: Any) -> dict[str, Any]:
    """A log record's attributes, with its ids, name and severity among them."""
    attributes = {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in record.attributes}
    ids = {"trace": record.trace_id.hex(), "span": record.span_id.hex()}
    return attributes | ids | {"event": record.event_name, "severity": record.severity_number}
