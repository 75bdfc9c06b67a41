"""Who rewrites: an endpoint of its own, or the judge."""

from checkers.consistency.improver.settings import RewritingSettings
from models.meter import UsageListener
from models.protocol import Judge, Oracle, oracle_of
from models.settings import JudgeSettings


def build_writer(
    settings: RewritingSettings,
    judge_settings: JudgeSettings,
    judge: Judge,
    on_usage: UsageListener | None = None,
) -> Oracle:
    """The writer that `settings` name, else `judge` itself (`is judge` tells whether there is one more to be closed).

    Raises:
        ValueError: nobody is named, and the judge is the local one.
        RecordingUnreadable: the writer is a replay, and its file cannot be used.
    """
    if settings.writer is not None:
        from models.build import build_oracle

        return oracle_of(build_oracle(settings.writer, section="improver.writer", on_usage=on_usage))
    if judge_settings.backend == "local":
        raise ValueError(
            "the local judge compares and cannot write; set improver.writer.base_url and improver.writer.model "
            "(an OpenAI-compatible endpoint), or judge.backend = 'openai'"
        )
    return oracle_of(judge)
