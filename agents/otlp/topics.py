"""The reader of a topic that a collector's Kafka exporter writes: each message is a request of OTLP."""

from collections.abc import Sequence

from agents.listener import Listener
from agents.otlp.intake import Intake
from agents.runtime import Runtime
from schemas import Unreadable
from streams.messages import Incoming, Outgoing
from streams.otlp.decoding import Malformed, Signal


class OtlpTopic(Listener):
    """Takes each message for done when all records made of it are on the outputs topic."""

    def __init__(self, name: str, topic: str, signal: Signal, intake: Intake, runtime: Runtime) -> None:
        super().__init__(name, topic, self._handle, runtime, writes=(runtime.settings.topics.outputs,))
        self._signal = signal
        self._intake = intake

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing]:
        if not incoming.value:
            raise Unreadable("empty", f"the message is empty; expected an OTLP request of {self._signal}")
        try:
            made = await self._intake.made(incoming.value, self._signal)
        except Malformed as error:
            raise Unreadable("invalid_record", f"no OTLP request of {self._signal}: {error}") from None
        return self._intake.messages(made.records)
