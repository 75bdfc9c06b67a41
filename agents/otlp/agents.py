"""The agents of OpenTelemetry by their names."""

from collections.abc import Collection
from functools import cache, partial
from typing import Final

from agents.otlp.exporter import NAME as EXPORTER
from agents.otlp.exporter import Exporter
from agents.otlp.intake import Intake, OtlpTopic
from agents.runtime import Agent, AgentFactory, Runtime
from streams.otlp.decoding import Signal
from streams.otlp.settings import OtlpSettings

_SIGNALS: Final[dict[str, Signal]] = {"otlp-spans": "traces", "otlp-logs": "logs"}


def otlp_agents(settings: OtlpSettings, names: Collection[str]) -> list[AgentFactory]:
    """Those with these names; what one has seen of a trace, the others know."""
    intake = cache(partial(Intake, settings))

    def reader(name: str, topic: str, runtime: Runtime) -> Agent:
        return OtlpTopic(name, topic, _SIGNALS[name], intake(runtime), runtime)

    topics = {f"otlp-{kind}": topic for kind, topic in settings.topics.items()}
    readers = [partial(reader, name, topic) for name, topic in topics.items() if name in names]
    verdicts = ("accepted", "rejected", "abstained") if EXPORTER in names else ()
    return [*readers, *(partial(Exporter, settings, topic) for topic in verdicts)]
