"""The agents beside the checkers: which are configured, and which of them a worker runs."""

from collections.abc import Collection

from assay.config import IMPROVER, Configuration
from checkers.plugin import SourcePlugin

TRUST_MONITOR = "trust-monitor"


class UnknownAgent(ValueError):
    """A name that no agent has, or one that is switched off."""


def configured_agents(configuration: Configuration) -> list[str]:
    """Names of the agents that are switched on."""
    names = [TRUST_MONITOR] if configuration.trust.enabled else []
    names += [IMPROVER] if configuration.improver.enabled else []
    names += [name for name, (_, is_on) in _sources(configuration).items() if is_on]
    return [*names, *(webhook_name(name) for name in configuration.webhooks)]


def select_agents(configuration: Configuration, names: Collection[str]) -> list[str]:
    """These agents, each once.

    Raises:
        UnknownAgent: names the agent, and those that are allowed or how it is switched on.
    """
    configured = configured_agents(configuration)
    off = {TRUST_MONITOR: "trust.enabled = true", IMPROVER: "improver.enabled = true"}
    off |= {name: source.switch for name, (source, is_on) in _sources(configuration).items() if not is_on}
    for name in names:
        if name in configured:
            continue
        if name in off:
            raise UnknownAgent(f"{name} is switched off; {off[name]} switches it on")
        allowed = ", ".join([*configured, "none"])
        raise UnknownAgent(f"there is no agent {name!r}; allowed are {allowed}; checkers are named with --checkers")
    return list(dict.fromkeys(names))


def _sources(configuration: Configuration) -> dict[str, tuple[SourcePlugin, bool]]:
    """The sources of installed checkers by their names, and true for those that are switched on."""
    return {
        plugin.source.name: (plugin.source, plugin.source.is_on(configuration.checkers[name]))
        for name, plugin in configuration.installed.plugins.items()
        if plugin.source is not None
    }


def webhook_name(name: str) -> str:
    """Name by which `--agents` selects all agents of a webhook."""
    return f"webhook-{name}"
