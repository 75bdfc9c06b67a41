"""The worker: any number of agents on one event loop, from start to the signal that ends it."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version

import structlog
from aiokafka.errors import KafkaError
from prometheus_client import CollectorRegistry

from agents.runtime import Agent, AgentFactory, Runtime
from streams.connection import BrokerWatch
from streams.http import HttpServer, Probe
from streams.logs import log_uncaught, mute_clients
from streams.messages import Publisher
from streams.metrics import StreamMetrics
from streams.settings import StreamSettings
from streams.topics import require_topics

DONE = 0  # Exit status after a signal: everything under way was finished or comes back.
COULD_NOT_FINISH = 3  # Exit status when an answer could not be delivered, or Kafka was lost for good.
_MOST_SUBJECTS = 500  # Pairs of source and model with their own labels: producers choose both names.
_MEASURE_EVERY_SECONDS = 5.0  # Three readings in the scrape interval of 15 s that is common.
_LEAVE_SECONDS = 5.0  # For committing, leaving groups and closing connections, on top of the drain time.
_FLUSH_SECONDS = 3.0  # With the 20 s of a drain and the 5 s of leaving, below the 30 s that Kubernetes gives.

_log = structlog.get_logger(__name__)


class Worker:
    def __init__(
        self,
        agents: Sequence[AgentFactory],
        settings: StreamSettings,
        *,
        judge_probe: Probe | None = None,
        registry: CollectorRegistry | None = None,
        preparing: Callable[[], Awaitable[None]] | None = None,
        closing: Sequence[Callable[[], Awaitable[None]]] = (),
        about: Mapping[str, str | None] | None = None,
        currency: str = "USD",
    ) -> None:
        """Must be called on the event loop that it is to run on.

        `preparing` is awaited before any agent starts, once the topics are known to be there; `closing` one after the
        other when everything else has stopped. `about`: what the log line on its start names besides.
        """
        self._settings = settings
        self.registry = registry if registry is not None else CollectorRegistry()
        self._preparing = preparing
        self._closing = closing
        self._about = about or {}
        # The exit status, after a signal or a fatal error.
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._fault: str | None = None  # The fatal error's name.
        self._publisher = Publisher(settings)
        self._runtime = Runtime(
            settings=settings,
            publisher=self._publisher,
            metrics=StreamMetrics(self.registry, max_subjects=_MOST_SUBJECTS, currency=currency),
            fail=self._fail,
        )
        self._agents: list[Agent] = [build(self._runtime) for build in agents]
        self._watch = BrokerWatch(settings.kafka, self._tell_of_broker)
        self._runtime.metrics.kafka_last_answer.set_function(lambda: self._watch.last_answer)
        ready: dict[str, Probe] = {"kafka": self._broker, **{agent.name: agent.ready for agent in self._agents}}
        ready |= {} if judge_probe is None else {"judge": judge_probe}
        self.http = HttpServer(settings.http, self.registry, alive={"agents": self._alive}, ready=ready)
        self._tasks: list[asyncio.Task[None]] = []
        self._asked = False
        self.stuck = False  # True if clients are left that still wait for a broker.
        self._stopped = False

    async def start(self) -> None:
        """Connect and begin to listen; returns once every agent has asked to join its group.

        Raises StreamError, which says what to do about a broker, a topic or a port.
        """
        needed = dict.fromkeys(topic for agent in self._agents for topic in agent.topics)
        await require_topics(self._settings.kafka, list(needed))
        await self.http.start()
        await self._publisher.start()
        if self._preparing is not None:
            await self._preparing()
        self._tasks.append(self._runtime.run("kafka", self._watch.run(self._publisher.client)))
        await asyncio.gather(*(agent.start() for agent in self._agents))
        self._tasks.append(asyncio.create_task(self._measure()))
        _log.info(
            "worker started",
            version=version("assay"),
            agents=[agent.name for agent in self._agents],
            port=self.http.port,
            servers=self._settings.kafka.bootstrap_servers,
            topics=f"{self._settings.topics.prefix}.*",
            **self._about,
        )

    async def stop(self) -> None:
        """Finish what is under way within the drain time, commit, disconnect. Safe to call twice, and half started."""
        if self._stopped:
            return
        self._stopped = True
        for task in self._tasks:
            task.cancel()
        seconds = self._settings.delivery.drain_seconds + _LEAVE_SECONDS
        if self._fault is not None or self._watch.fault is not None:
            # The broker does not take answers; there is nothing to wait for.
            seconds = _LEAVE_SECONDS
            for agent in self._agents:
                agent.abandon()
        stopping = [asyncio.create_task(agent.stop()) for agent in self._agents]
        if stopping:
            _, late = await asyncio.wait(stopping, timeout=seconds)
            self.stuck |= bool(late)
        try:
            async with asyncio.timeout(_FLUSH_SECONDS):
                await self._publisher.stop()
        except TimeoutError:
            self.stuck = True
        if self.stuck:
            _log.warning("the broker did not answer in time; what is not committed comes back")
        await self.http.stop()
        for close in self._closing:
            await close()
        _log.info("worker stopped")

    async def run_until_signal(self, started: Callable[[], None] = lambda: None) -> int:
        """Start, run until SIGTERM or SIGINT, drain and stop; a second signal ends at once. Returns the exit status."""
        loop = asyncio.get_running_loop()

        def on_signal(number: int) -> None:
            if self._asked:
                os._exit(128 + number)
            self._asked = True
            self._end(DONE)

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, on_signal, number)
        starting = asyncio.create_task(self.start())
        try:
            ends: list[asyncio.Future[None] | asyncio.Future[int]] = [starting, self.ended]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
                started()
            return await self.ended
        finally:
            starting.cancel()
            await self.stop()

    def _fail(self, error: BaseException) -> None:
        self.ended.get_loop().call_soon_threadsafe(self._end, COULD_NOT_FINISH, type(error).__name__)

    def _end(self, status: int, fault: str | None = None) -> None:
        if fault is not None and self._fault is None:
            _log.error("worker cannot go on", error=fault)
            self._fault = fault
        if not self.ended.done():
            self.ended.set_result(status)

    async def _alive(self) -> str | None:
        return self._fault and f"cannot go on: {self._fault}"

    async def _broker(self) -> str | None:
        return self._watch.fault

    def _tell_of_broker(self, event: str, *, servers: str, since: str, why: str | None = None) -> None:
        # Before it is away for sure, each of the clients has said what it met.
        mute_clients(self._watch.fault is not None)
        _log.warning(event, servers=servers, since=since, **({} if why is None else {"why": why}))

    async def _measure(self) -> None:
        while True:
            if self._watch.fault is None:
                for agent in self._agents:
                    # A rebalance, or a broker that goes away just now.
                    with suppress(KafkaError, TimeoutError):
                        async with asyncio.timeout(_MEASURE_EVERY_SECONDS):
                            await agent.measure()
            else:
                # Records that arrive are not seen: what was measured last may be far from true.
                self._runtime.metrics.lag.clear()
            await asyncio.sleep(_MEASURE_EVERY_SECONDS)


def run(factory: Callable[[], Awaitable[Worker]], started: Callable[[], None] = lambda: None) -> int:
    """Build a worker on an event loop and run it until a signal, `started` called once it runs; the exit status."""
    log_uncaught()

    async def main() -> int:
        worker = await factory()
        # Imported objects stay alive. Traversing them again and again stops the loop for tens of milliseconds each
        # time, which leaves the judge's endpoint idle: measured as 1 to 2% of its calls a second.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        status = await worker.run_until_signal(started)
        if worker.stuck:
            # Threads of clients that wait for a broker would keep the process for as long as it is away.
            sys.stderr.flush()
            os._exit(status)
        return status

    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())
