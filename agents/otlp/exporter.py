"""The exporter: an agent for each topic of verdicts, which posts them as events to an endpoint of OTLP."""

import asyncio
from collections.abc import Sequence

import structlog
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from pydantic import ValidationError

from agents.listener import Listener
from agents.otlp.intake import metrics_on
from agents.runtime import Runtime
from agents.webhooks.target import AT_ONCE, Reply, Target
from schemas import Unreadable, Verdict, explain
from streams.messages import Hold, Incoming, Outgoing
from streams.otlp.evaluations import evaluation, request_of
from streams.otlp.settings import OtlpSettings

NAME = "otlp-exporter"

_MOST = 100
"""Events of a request: most endpoints take megabytes, these are some hundred kilobytes at most."""

_GATHER_SECONDS = 0.1
"""An event waits so long for others to be sent with."""

_PAUSE_SECONDS = 5.0
"""Between tries of an endpoint that does not say when to come back."""

_LONGEST_TRIAL_SECONDS = 60.0

_log = structlog.get_logger(__name__)


class Exporter(Listener):
    """A verdict is done when the endpoint has taken it, or refuses it for good: then it is a dead letter."""

    def __init__(self, settings: OtlpSettings, topic: str, runtime: Runtime) -> None:
        source = getattr(runtime.settings.topics, topic)
        self._batches = batches = _ExportBatches(settings)
        trial, needs = _LONGEST_TRIAL_SECONDS, [batches.target]
        super().__init__(f"{NAME}-{topic}", source, self._handle, runtime, trial_seconds=trial, needs=needs)
        self._explained = settings.explanations
        self._exported = metrics_on(runtime.metrics.registry).exported

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing]:
        try:
            verdict = Verdict.model_validate_json(incoming.value or b"")
        except ValidationError as error:
            raise Unreadable("invalid_record", f"no verdict: {explain(error)}") from None
        reply = await self._batches.post(evaluation(verdict, explained=self._explained))
        self._exported.labels(reply.outcome).inc()
        if reply.outcome == "failed":
            _log.warning("verdict not exported, it waits", agent=self.name, id=verdict.id, reply=reply.detail)
            raise Hold(_PAUSE_SECONDS if reply.retry_after is None else reply.retry_after)
        if reply.outcome == "refused":
            raise Unreadable("undeliverable", f"the endpoint of otlp.endpoint: {reply.detail}")
        return ()


class _ExportBatches:
    """Sends events together; of a request that is refused each event is sent alone, as one may be at fault."""

    def __init__(self, settings: OtlpSettings) -> None:
        self.target = Target(settings.logs_url or "")
        self._headers = {"content-type": "application/x-protobuf", "user-agent": "assay", **settings.request_headers}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._gathered: list[tuple[LogRecord, asyncio.Future[Reply]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def post(self, event: LogRecord) -> Reply:
        """The reply to the request that the event was in."""
        replied: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._gathered.append((event, replied))
        if len(self._gathered) == 1:
            task = asyncio.create_task(self._send())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return await replied

    async def _send(self) -> None:
        await asyncio.sleep(_GATHER_SECONDS)
        gathered, self._gathered = self._gathered, []
        # Those that are not waited for any more come back.
        while batch := [(event, replied) for event, replied in gathered[:_MOST] if not replied.done()]:
            del gathered[:_MOST]
            reply = await self._posted([event for event, _ in batch])
            for event, replied in batch:
                one = await self._posted([event]) if reply.outcome == "refused" and len(batch) > 1 else reply
                if not replied.done():
                    replied.set_result(one)

    async def _posted(self, events: Sequence[LogRecord]) -> Reply:
        async with self._places:
            return await self.target.post(request_of(events), self._headers)
