"""From settings to a model with everything around it."""

from collections.abc import Callable

from models.breaker import Breaker, BreakerListener
from models.cache import AnswerCache
from models.local.settings import BUNDLED_JUDGE
from models.meter import Layer, MeteredGrader, MeteredOracle, UsageListener
from models.protocol import Grader, Oracle
from models.recording import Journal, Recorder, Replay
from models.settings import OMIT, CacheSettings, EndpointSettings, JudgeSettings, SubjectSettings


def build_oracle(
    settings: JudgeSettings | SubjectSettings,
    *,
    section: str = "judge",
    on_usage: UsageListener | None = None,
    on_breaker: BreakerListener | None = None,
) -> MeteredOracle | MeteredGrader:
    """The model that `settings` describe; to be built in or before the event loop that asks it, and used in it alone.

    Of a cascade it is the second judge, the endpoint; the first is `build_screen`'s.

    From the outside in: meter, cache and single flight, recording, and the backend with its limits, retries and
    breaker. `section` is what the configuration calls the settings; it stands in logs and errors. Imports what the
    backend needs, and only that.

    Raises:
        RecordingUnreadable: the backend is `replay`, and its file cannot be used.
    """
    journal = Journal(settings.record_to) if settings.record_to else None
    if settings.backend == "replay" and settings.replay_from:
        replay = Replay(settings.replay_from, model=settings.model)
        if replay.grades:
            return built_grader(replay, settings.cache, journal, on_usage=on_usage)
        return _metered(replay, settings, journal, on_usage)
    if isinstance(settings, JudgeSettings) and settings.backend == "local":
        from models.local_judges import local_judge

        return built_grader(local_judge(settings.local), settings.cache, journal, on_usage=on_usage)
    oracle = _behind_address(settings, section, journal, on_breaker)
    return _metered(oracle, settings, journal, on_usage)


def build_screen(settings: JudgeSettings, *, on_usage: UsageListener | None = None) -> MeteredGrader | None:
    """The local judge of a cascade, which nobody is charged for; None if the backend is another one."""
    if settings.backend != "cascade":
        return None
    from models.local_judges import local_judge

    journal = Journal(settings.record_to) if settings.record_to else None
    return built_grader(local_judge(settings.local), settings.cache, journal, on_usage=on_usage, charged=False)


def fetch_models(settings: JudgeSettings, say: Callable[[str], None]) -> None:
    """Download now what the judge needs and this machine does not keep, before there are other bars on the terminal.

    Raises:
        ModelUnusable: it cannot be downloaded.
    """
    if settings.backend in {"local", "cascade"} and (settings.local.judge != BUNDLED_JUDGE or settings.local.spans):
        from models.grounding.grader import fetch

        fetch(settings.local, say)


def built_grader(
    grader: Grader,
    cache: CacheSettings | None = None,
    journal: Journal | None = None,
    *,
    on_usage: UsageListener | None = None,
    charged: bool = True,
) -> MeteredGrader:
    """A grader with everything around it."""
    layers = _layers(grader, cache or CacheSettings(), journal)
    return MeteredGrader(grader, *layers, on_usage=on_usage, charged=charged)


def _metered(
    oracle: Oracle, settings: EndpointSettings, journal: Journal | None, on_usage: UsageListener | None
) -> MeteredOracle:
    layers = _layers(oracle, settings.cache, journal)
    max_tokens = None if settings.max_tokens == OMIT else settings.max_tokens
    return MeteredOracle(oracle, *layers, on_usage=on_usage, max_tokens=max_tokens)


def _layers(model: Oracle | Grader, cache: CacheSettings, journal: Journal | None) -> list[Layer]:
    recorder = [] if journal is None else [Recorder(model.name, journal)]
    return [AnswerCache(cache), *recorder]


def _behind_address(
    settings: JudgeSettings | SubjectSettings, section: str, journal: Journal | None, on_breaker: BreakerListener | None
) -> Oracle:
    from models.limits import Limits
    from models.retry import Retrying

    name = f"{section} {settings.model or settings.backend}"
    breaker = Breaker(settings.breaker, name=name, listener=on_breaker)
    limits = Limits(concurrency=settings.concurrency, requests_per_second=settings.requests_per_second)
    retrying = Retrying(
        limits=limits,
        breaker=breaker,
        max_attempts=settings.max_attempts,
        timeout_seconds=settings.timeout_seconds,
    )
    if settings.backend == "service":
        from models.service import ServiceOracle

        return ServiceOracle(settings, section=section, retrying=retrying)
    from models.openai import OpenAIOracle

    return OpenAIOracle(settings, section=section, retrying=retrying, breaker=breaker, journal=journal)
