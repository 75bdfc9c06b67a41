"""Models, checkers, the worker with its readiness and its other agents, built from the configuration."""

import platform
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from assay.config import IMPROVER, Configuration, Misconfigured
from assay.messages import require_store
from checkers.checker import Checker, Models
from checkers.plugin import CheckerPlugin
from models.build import build_judge, build_model, build_screen
from models.flow import BreakerListener
from models.judges.prompted import PromptedJudge
from models.meter import MeteredModel, UsageListener
from models.protocol import Model

if TYPE_CHECKING:
    from agents.routing import Budgets
    from agents.runtime import AgentFactory
    from agents.worker import Worker

TRUST_MONITOR = "trust-monitor"
ARCHIVIST = "archivist"
LABELS = "labels"
OTLP = ("otlp-spans", "otlp-logs", "otlp-exporter")

_RECORD_TIMEOUTS = 2.5
"""Time limit of a record in those of a request: two questions, one after the other, with the retries of each."""

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Checkers and the models that they ask."""

    checkers: Sequence[Checker[Any]]
    models: Models

    async def close(self) -> None:
        """Release the connections and threads of checkers and models."""
        for checker in self.checkers:
            await checker.close()
            if checker.screen is not None:
                await checker.screen.close()
        for model in (self.models.screen, self.models.judge, *self.models.subjects.values()):
            if model is not None:
                await model.close()


def build_service(
    configuration: Configuration,
    plugins: Sequence[CheckerPlugin],
    *,
    judging: bool = True,
    stand_ins: Mapping[str, Model] | None = None,
    on_usage: UsageListener | None = None,
    on_breaker: BreakerListener | None = None,
    kept: Callable[[Models], Models] = lambda models: models,
) -> Service:
    """The configured models and checkers; raises Misconfigured if one cannot be built from its settings.

    `on_usage` and `on_breaker` are called about the judge, `on_usage` about both of a cascade. No judge is built unless
    `judging`. `stand_ins` are subjects that are not configured.
    The checkers ask the models as `kept` gives them back.
    """
    build = partial(build_judge, configuration.judge, on_usage=on_usage, on_breaker=on_breaker)
    screen = partial(build_screen, configuration.judge, on_usage=on_usage)
    judge = _built("judge", build) if judging else None
    models = Models(
        judge=judge,
        writer=judge.model if isinstance(judge, PromptedJudge) else None,
        screen=_built("judge.local", screen) if judging else None,
        subjects={name: MeteredModel(model, cached=False, is_subject=True) for name, model in (stand_ins or {}).items()}
        | {
            name: _built(f"subjects.{name}", partial(build_model, settings, section=f"subjects.{name}"))
            for name, settings in configuration.subjects.items()
        },
        record_seconds=_RECORD_TIMEOUTS * configuration.judge.timeout_seconds,
    )
    models = kept(models)
    checkers = [
        _built(plugin.section or plugin.name, partial(plugin.build, configuration.checkers[plugin.name], models))
        for plugin in plugins
    ]
    return Service(checkers=checkers, models=models)


def _followers(
    configuration: Configuration, names: Collection[str], models: Models, budgets: "Budgets", on_usage: UsageListener
) -> "tuple[list[AgentFactory], list[Model]]":
    """The agents with these names, and the models that only they use; raises Misconfigured."""
    from agents.improver_agent import ImproverAgent
    from agents.monitor.labels import labels_agent
    from agents.monitor.trust import trust_monitor
    from agents.scheduler import Scheduler
    from agents.webhooks import webhook

    factories: list[AgentFactory] = []
    own: list[Model] = []
    if TRUST_MONITOR in names:
        factories.append(partial(trust_monitor, configuration.trust, configuration.alertmanager))
    if LABELS in names:
        factories.append(partial(labels_agent, configuration.labels))
    if ARCHIVIST in names:
        # A worker without a store loads no library of databases.
        from agents.archivist import Archivist

        require_store(configuration.store.url or "")
        factories.append(partial(Archivist, configuration.store))
    if set(OTLP) & set(names):
        from agents.otlp import otlp_agents

        factories += otlp_agents(configuration.otlp, names)
    for name, settings in configuration.webhooks.items():
        if webhook_name(name) in names:
            factories += webhook(name, settings)
    plugin = configuration.installed.improver
    if IMPROVER in names and plugin is not None and plugin.improver is not None:
        writer = _built("improver.writer", partial(configuration.improver.build_writer, models.writer, on_usage))
        own += [] if writer is models.writer else [writer]
        checker = _built(plugin.name, partial(plugin.build, configuration.checkers[plugin.name], models))
        improver = _built(IMPROVER, partial(plugin.improver, checker, writer))
        factories.append(partial(ImproverAgent, improver, budgets=budgets))
    for name, plugin in configuration.installed.plugins.items():
        if plugin.source is not None and plugin.source_name in names:
            build = partial(plugin.source, configuration.checkers[name], models)
            factories.append(partial(Scheduler, _built(plugin.source_name, build), budgets=budgets))
    return factories, own


@asynccontextmanager
async def wired(
    configuration: Configuration,
    plugins: Sequence[CheckerPlugin],
    kept: Callable[[Models], Models] = lambda models: models,
) -> AsyncIterator[Service]:
    """A service for as long as the context lasts; its checkers ask the models as `kept` gives them back."""
    judging = not plugins or any(plugin.checker.asks_judge for plugin in plugins)
    service = build_service(configuration, plugins, judging=judging, kept=kept)
    try:
        yield service
    finally:
        await service.close()


async def build_worker(
    configuration: Configuration,
    plugins: Sequence[CheckerPlugin],
    following: Collection[str],
    *,
    stand_ins: Mapping[str, Model] | None = None,
) -> "Worker":
    """The worker with these checkers and other agents, with the judge's metrics and part of readiness.

    `stand_ins` are subjects that are not configured. Raises Misconfigured for what cannot be built from its settings.
    """
    from prometheus_client import CollectorRegistry, Info, ProcessCollector

    from agents.checker_agent import CheckerAgent
    from agents.judge import JudgeMetrics, JudgeProbe
    from agents.pace import report_pace
    from agents.routing import Budgets
    from agents.worker import Worker
    from streams.takeover import commit_starting_offsets

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    metrics = JudgeMetrics(registry, configuration.judge.currency)
    probe = JudgeProbe(configuration.judge)
    judging = IMPROVER in following or any(plugin.checker.asks_judge for plugin in plugins)
    service = build_service(
        configuration, plugins, judging=judging, stand_ins=stand_ins, on_usage=metrics.ended, on_breaker=probe.breaker
    )
    judge = service.models.judge
    budgets = Budgets(configuration.budgets, registry=registry)
    followers, models = _followers(configuration, following, service.models, budgets, metrics.ended)
    opened = {"url": configuration.alertmanager.runbook_url, "page": configuration.alertmanager.page_url}
    Info("assay_runbook", "Where the runbook of alerts, and the page, can be opened", registry=registry).info(opened)
    runs = {"version": version("assay"), "python_version": platform.python_version()}
    runs["judge"] = judge.name if judge else ""
    Info("assay_build", "What this worker runs, and the judge that it asks", registry=registry).info(runs)
    if judge is not None:
        probe.watch(service.models.screen or judge)
    checking = configuration.routing.checkers or [checker.name for checker in service.checkers]
    answering, taken = _taken_kinds(configuration, [checker.name for checker in service.checkers])
    first = {kind: min(name for name in checking if kind in taken[name]) for name in checking for kind in taken[name]}
    agents = [
        partial(
            CheckerAgent,
            checker,
            routing=configuration.routing,
            budgets=budgets,
            answers_for={name: kinds for name, kinds in taken.items() if name != checker.name}
            if checker.name == answering
            else None,
            count=plugin.count,
            counts=[kind for kind, name in first.items() if name == checker.name],
        )
        for plugin, checker in zip(plugins, service.checkers, strict=True)
    ]
    if isinstance(judge, PromptedJudge):
        metrics.watch(judge.name, lambda: judge.pace)

    async def prepare() -> None:
        await commit_starting_offsets(configuration.streams, checking, [*configuration.installed.plugins])
        if isinstance(judge, PromptedJudge) and judge.pace:
            await report_pace(configuration.streams, judge.name, judge.pace)

    return Worker(
        [*agents, *followers],
        configuration.streams,
        preparing=prepare,
        judge_probe=probe if judging else None,
        registry=registry,
        currency=configuration.judge.currency,
        closing=[service.close, *(model.close for model in models)],
        about={
            "judge": judge.name if judge else None,
            "configuration": str(configuration.origins.file) if configuration.origins.file else None,
        },
    )


def _taken_kinds(configuration: Configuration, own: Collection[str]) -> tuple[str | None, dict[str, frozenset[str]]]:
    """The checker that answers for records that none checks, and the kinds of each; raises Misconfigured."""
    named, installed = configuration.routing.checkers, configuration.installed.plugins
    if named and (missing := [name for name in own if name not in named]):
        raise Misconfigured(f"routing.checkers: {', '.join(missing)} runs in this worker and is not named there")
    return min(named or own, default=None), {name: installed[name].kinds for name in named or installed}


def _built(section: str, make: Callable[[], _Part]) -> _Part:
    try:
        return make()
    except ImportError as error:
        raise Misconfigured(
            f"{section}: a package is missing ({error}); the local judge comes with `pip install 'assay[local]'`"
        ) from error
    except Exception as error:
        # A checker of another package may raise anything; the user can correct its settings.
        raise Misconfigured(f"{section}: {type(error).__name__}: {error}") from error


def webhook_name(name: str) -> str:
    """Name by which `--agents` selects all agents of a webhook."""
    return f"webhook-{name}"
