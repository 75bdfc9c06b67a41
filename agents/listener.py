"""An agent on Faust: one consumer group on one topic, one handler for every message."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from agents.pace import Pace
from agents.runtime import Agent, Runtime
from agents.sessions import Sessions
from streams.clients import Client
from streams.delivery import Delivery
from streams.faust_app import GroupApp
from streams.messages import Handler, OnEnded, Screen
from streams.takeover import Takeover


class Listener(Agent):
    """Passes every message of a topic to a handler, many concurrently; of checkers, improvers and webhooks."""

    def __init__(
        self,
        name: str,
        topic: str,
        handler: Handler,
        runtime: Runtime,
        *,
        writes: Collection[str] = (),
        needs: Sequence[Client] = (),
        trial_seconds: float | None = None,
        on_ended: OnEnded = lambda incoming, answered: None,
        screen: Screen | None = None,
        in_flight: Callable[[], int] | None = None,
        takeover: Takeover | None = None,
        sessions: Sessions | None = None,
    ) -> None:
        """`writes`: topics that the handler's answers go to; `needs` is started before and stopped behind it.

        `trial_seconds`: see `Gate`; `on_ended`: as there.

        What `screen` skips does not come to the handler. `in_flight` is asked for the number of records under way
        by a handler that counts them itself. With `takeover`, what was answered before is not answered again; with
        `sessions` that it restores, conversations end.
        """
        settings = runtime.settings
        self.name = name
        self.topics = (topic, *writes, settings.topics.dead_letter)
        self._runtime, self._sessions, self._needs = runtime, sessions, needs
        self._keeping: asyncio.Task[None] | None = None
        self._drain_seconds = settings.delivery.drain_seconds
        self._metrics = runtime.metrics.agent(name)
        self._delivery = Delivery(
            name=name,
            handler=handler,
            publisher=runtime.publisher,
            settings=settings,
            on_dead_letter=self._metrics.dead_letter,
            on_fatal=runtime.fail,
            on_ended=on_ended,
            trial_seconds=trial_seconds,
            screen=screen,
            takeover=takeover,
        )
        self._metrics.watch(
            in_flight=in_flight or (lambda: self._delivery.in_flight),
            held=lambda: self._delivery.held,
            paused=lambda: self._delivery.paused,
        )
        self._pace = Pace(name, self._metrics, samples=takeover is not None)
        self._app = GroupApp(f"{settings.topics.prefix}.{name}", settings, drain=self._drain, on_fatal=runtime.fail)
        self._app.listen(topic, self._delivery.run)

    async def start(self) -> None:
        for client in self._needs:
            await client.start()
        await self._app.start()
        if self._sessions is not None:
            self._keeping = asyncio.create_task(self._sessions.run(self._app, self._delivery.take_over))
            self._runtime.watch(self.name, self._keeping)

    async def stop(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
        try:
            if self._app.started:
                await self._app.stop()
        finally:
            for client in self._needs:
                await client.stop()

    async def ready(self) -> str | None:
        return None if self._app.joined else "has not joined its group yet"

    async def measure(self) -> None:
        if not self._app.joined:
            return
        progress = await self._app.progress()
        self._metrics.lag(sum(each.end - each.finished for each in progress.values()))
        self._pace.look(progress)

    def abandon(self) -> None:
        self._drain_seconds = 0

    async def _drain(self) -> None:
        await self._delivery.drain(self._drain_seconds)
