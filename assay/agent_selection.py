"""The agents beside the checkers: which are configured, and which of them a worker runs."""

from collections.abc import Collection

from assay.config import IMPROVER, Configuration

TRUST_MONITOR = "trust-monitor"
ARCHIVIST = "archivist"
LABELS = "labels"
OTLP = ("otlp-receiver", "otlp-spans", "otlp-logs", "otlp-exporter")


class UnknownAgent(ValueError):
    """A name that no agent has, or one that is switched off."""


def configured_agents(configuration: Configuration) -> list[str]:
    """Names of the agents that are switched on."""
    return [name for name, switch in _agents(configuration).items() if switch is None]


def select_agents(configuration: Configuration, names: Collection[str]) -> list[str]:
    """These agents, each once.

    Raises:
        UnknownAgent: names the agent, and those that are allowed or how it is switched on.
    """
    agents = _agents(configuration)
    for name in names:
        if name not in agents:
            allowed = ", ".join([*configured_agents(configuration), "none"])
            raise UnknownAgent(f"there is no agent {name!r}; allowed are {allowed}; checkers are named with --checkers")
        if agents[name] is not None:
            raise UnknownAgent(f"{name} is switched off; {agents[name]} switches it on")
    return list(dict.fromkeys(names))


def _agents(configuration: Configuration) -> dict[str, str | None]:
    """All agents by their names, with the setting that switches one on; None for those that are."""
    agents: dict[str, str | None] = {
        TRUST_MONITOR: None,
        IMPROVER: None if configuration.improver.enabled else "improver.enabled = true",
        ARCHIVIST: None if configuration.store.url else "store.url = 'sqlite:///verdicts.db'",
        LABELS: None if configuration.labels.per_hour else "labels.per_hour = 20",
    }
    otlp = configuration.otlp
    switches = (
        (otlp.receive, "receive = true"),
        (otlp.spans_topic, "spans_topic = 'otlp_spans'"),
        (otlp.logs_topic, "logs_topic = 'otlp_logs'"),
        (otlp.endpoint, "endpoint = 'http://127.0.0.1:4318'"),
    )
    for name, (on, switch) in zip(OTLP, switches, strict=True):
        agents[name] = None if on else f"otlp.{switch}"
    for name, plugin in configuration.installed.plugins.items():
        if (source := plugin.source) is not None:
            agents[source.name] = None if source.is_on(configuration.checkers[name]) else source.switch
    return agents | dict.fromkeys(map(webhook_name, configuration.webhooks))


def webhook_name(name: str) -> str:
    """Name by which `--agents` selects all agents of a webhook."""
    return f"webhook-{name}"
