"""From settings to an oracle with everything around it."""

from checkers.oracle.breaker import Breaker, BreakerListener
from checkers.oracle.cache import CachedOracle
from checkers.oracle.meter import MeteredOracle, UsageListener
from checkers.oracle.protocol import Oracle
from checkers.oracle.recording import Journal, RecordingOracle
from checkers.oracle.settings import EndpointSettings, JudgeSettings, SubjectSettings


def build_oracle(
    settings: JudgeSettings | SubjectSettings,
    *,
    role: str = "judge",
    on_usage: UsageListener | None = None,
    on_breaker: BreakerListener | None = None,
) -> MeteredOracle:
    """The oracle that `settings` describe; to be built in or before the event loop that asks it, and used in it alone.

    From the outside in: meter, cache and single flight, recording, and the backend with its limits, retries and
    breaker. `role` (`judge`, or a subject's name) stands in logs. Imports what the backend needs, and only that.

    Raises:
        RecordingUnreadable: the backend is `replay`, and its file cannot be used.
    """
    journal = Journal(settings.record_to) if settings.record_to else None
    backend = _backend(settings, role, journal, on_breaker)
    if journal is not None:
        backend = RecordingOracle(backend, journal)
    return MeteredOracle(CachedOracle(backend, settings.cache), on_usage=on_usage)


def _backend(
    settings: JudgeSettings | SubjectSettings,
    role: str,
    journal: Journal | None,
    on_breaker: BreakerListener | None,
) -> Oracle:
    if settings.backend == "replay" and settings.replay_from:
        from checkers.oracle.replay import ReplayOracle

        return ReplayOracle(settings.replay_from, model=settings.model)
    if isinstance(settings, JudgeSettings) and settings.backend == "local":
        from checkers.oracle.local_oracle import LocalOracle

        return LocalOracle(settings.local)
    return _endpoint(settings, role, journal, on_breaker)


def _endpoint(
    settings: EndpointSettings, role: str, journal: Journal | None, on_breaker: BreakerListener | None
) -> Oracle:
    from checkers.oracle.limits import Limits
    from checkers.oracle.openai import OpenAIOracle
    from checkers.oracle.retry import Retrying

    name = f"{role} {settings.model}"
    breaker = Breaker(settings.breaker, name=name, listener=on_breaker)
    limits = Limits(concurrency=settings.concurrency, requests_per_second=settings.requests_per_second)
    retrying = Retrying(
        name=name,
        limits=limits,
        breaker=breaker,
        max_attempts=settings.max_attempts,
        timeout_seconds=settings.timeout_seconds,
    )
    return OpenAIOracle(settings, retrying=retrying, breaker=breaker, journal=journal)
