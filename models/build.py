"""From settings to a model with everything around it."""

from collections.abc import Callable
from functools import partial

from models.flow import BreakerListener
from models.judges.prompted import PromptedJudge
from models.local_grader import local_judge
from models.meter import Journal, MeteredJudge, MeteredModel, Replay, UsageListener
from models.protocol import Model
from models.settings import BUNDLED_JUDGE, JudgeSettings, SubjectSettings


def build_judge(
    settings: JudgeSettings, *, on_usage: UsageListener | None = None, on_breaker: BreakerListener | None = None
) -> MeteredJudge | PromptedJudge:
    """The judge that `settings` describe; of a cascade the second one, the endpoint. As `build_model` otherwise."""
    if settings.backend == "local":
        return MeteredJudge(local_judge(settings.local), on_usage=on_usage)
    return PromptedJudge(build_model(settings, on_usage=on_usage, on_breaker=on_breaker), settings)


def build_model(
    settings: JudgeSettings | SubjectSettings,
    *,
    section: str = "judge",
    on_usage: UsageListener | None = None,
    on_breaker: BreakerListener | None = None,
) -> MeteredModel:
    """The model that `settings` describe; to be built in or before the event loop that asks it, and used in it alone.

    `section` is what the configuration calls the settings. Imports what the backend needs, and only that. Raises
    ValueError if the backend is `replay`, and its file cannot be used.
    """
    journal = Journal(settings.recording) if settings.recording and settings.backend != "replay" else None
    model: Model
    if settings.backend == "replay" and settings.recording:
        model = Replay(settings.recording)
    else:
        from models.chat import ChatModel, ServiceModel
        from models.llama import LlamaModel

        kind = ServiceModel if settings.backend == "service" else ChatModel
        chat = partial(kind, section=section, journal=journal, on_breaker=on_breaker)
        model = LlamaModel(settings, chat) if settings.backend == "llama" else chat(settings)
    is_subject = isinstance(settings, SubjectSettings)
    temperature = None if settings.backend == "service" else settings.temperature
    return MeteredModel(model, journal=journal, on_usage=on_usage, is_subject=is_subject, temperature=temperature)


def build_screen(settings: JudgeSettings, *, on_usage: UsageListener | None = None) -> MeteredJudge | None:
    """The local judge of a cascade, which nobody is charged for; None if the backend is another one."""
    is_cascade = settings.backend == "cascade"
    return MeteredJudge(local_judge(settings.local), on_usage=on_usage, charged=False) if is_cascade else None


def fetch_models(settings: JudgeSettings, say: Callable[[str], None]) -> None:
    """Download what the judge needs and this machine does not keep; raises ModelUnusable if that is impossible."""
    if settings.backend in {"local", "cascade"} and settings.local.judge != BUNDLED_JUDGE:
        from models.grounding.catalogue import named_judge
        from models.grounding.hub import fetched

        named = named_judge(settings.local.judge)
        for source in filter(None, (named.weights, named.config)):
            fetched(source, say)
