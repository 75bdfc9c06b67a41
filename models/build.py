"""From settings to a model with everything around it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from models.local.settings import BUNDLED_JUDGE
from models.meter import MeteredGrader, MeteredModel, UsageListener
from models.protocol import Grader, Model
from models.recording import Journal, Replay
from models.settings import OMIT, JudgeSettings, SubjectSettings

if TYPE_CHECKING:
    from models.flow import BreakerListener


def build_model(
    settings: JudgeSettings | SubjectSettings,
    *,
    section: str = "judge",
    on_usage: UsageListener | None = None,
    on_breaker: "BreakerListener | None" = None,
) -> MeteredModel | MeteredGrader:
    """The model that `settings` describe; to be built in or before the event loop that asks it, and used in it alone.

    Of a cascade it is the second judge, the endpoint; the first is `build_screen`'s.
    Around the backend, with its flow, are cache, recording and meter. `section` is what the configuration calls the
    settings; it stands in logs and errors. Imports what the backend needs, and only that.

    Raises:
        RecordingUnreadable: the backend is `replay`, and its file cannot be used.
    """
    journal = Journal(settings.record_to) if settings.record_to else None
    if settings.backend == "replay" and settings.replay_from:
        replay = Replay(settings.replay_from, model=settings.model)
        if replay.grades:
            return built_grader(replay, journal, on_usage=on_usage)
        return _metered(replay, settings, journal, on_usage)
    if isinstance(settings, JudgeSettings) and settings.backend == "local":
        from models.local_judges import local_judge

        return built_grader(local_judge(settings.local), journal, on_usage=on_usage)
    model = _behind_address(settings, section, journal, on_breaker)
    return _metered(model, settings, journal, on_usage)


def build_screen(settings: JudgeSettings, *, on_usage: UsageListener | None = None) -> MeteredGrader | None:
    """The local judge of a cascade, which nobody is charged for; None if the backend is another one."""
    if settings.backend != "cascade":
        return None
    from models.local_judges import local_judge

    journal = Journal(settings.record_to) if settings.record_to else None
    return built_grader(local_judge(settings.local), journal, on_usage=on_usage, charged=False)


def fetch_models(settings: JudgeSettings, say: Callable[[str], None]) -> None:
    """Download now what the judge needs and this machine does not keep, before there are other bars on the terminal.

    Raises:
        ModelUnusable: it cannot be downloaded.
    """
    if settings.backend in {"local", "cascade"} and settings.local.judge != BUNDLED_JUDGE:
        from models.grounding.grader import fetch

        fetch(settings.local, say)


def built_grader(
    grader: Grader,
    journal: Journal | None = None,
    *,
    on_usage: UsageListener | None = None,
    charged: bool = True,
) -> MeteredGrader:
    """A grader with everything around it."""
    return MeteredGrader(grader, cached=True, journal=journal, on_usage=on_usage, charged=charged)


def _metered(
    model: Model, settings: JudgeSettings | SubjectSettings, journal: Journal | None, on_usage: UsageListener | None
) -> MeteredModel:
    limit = None if settings.max_tokens == OMIT else settings.max_tokens
    metered = MeteredModel(model, cached=True, journal=journal, on_usage=on_usage, max_tokens=limit)
    metered.is_subject = isinstance(settings, SubjectSettings)
    metered.temperature = None if settings.backend == "service" else settings.temperature
    return metered


def _behind_address(
    settings: JudgeSettings | SubjectSettings,
    section: str,
    journal: Journal | None,
    on_breaker: "BreakerListener | None",
) -> Model:
    if settings.backend == "service":
        from models.service import ServiceModel

        return ServiceModel(settings, section=section, on_breaker=on_breaker)
    from models.chat import ChatModel

    return ChatModel(settings, section=section, journal=journal, on_breaker=on_breaker)
