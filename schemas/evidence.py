"""Evidence: why a verdict is what it is; one model a method, told apart by `type`."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from schemas.base import Wire


class SentenceFinding(Wire):
    """What was found about one sentence (or, in paragraph granularity, about the whole) of a response."""

    text: str
    start: int
    """Offset of the sentence in the response, in code points."""
    end: int
    mark: Literal[-1, 1]
    """1 consistent, -1 not."""
    support: float | None = None
    """How far the reference supports it, 0 to 1, from a judge that grades; null from one that says yes or no."""
    reason: str
    passage: str | None = None
    """The passage of the reference that decided, where the judge names one."""
    converted: Literal["opening", "asked", "graded", "flag", "samples"]
    """How it was marked: by the reason's fixed opening words, by asking (AMC), from the judge's grade, from its flag
    (DCE alone), or by what most samples say."""


class SampleAgreement(Wire):
    """Self-consistency: how a response stands against one other sample."""

    sample: int
    """Index into the record's `samples`."""
    score: float
    inconsistent: tuple[int, ...]
    """Indices of the sentences that this sample does not support."""


class ConsistencyEvidence(Wire):
    """DCR: what was found sentence by sentence, and how the score was made of it (paper, sections 3.1 and 3.2)."""

    type: Literal["consistency"] = "consistency"
    task: str
    granularity: Literal["sentence", "paragraph"]
    marks_from: Literal["reasons", "flag"]
    """`flag` is DCE alone: the judge's own word for the whole."""
    against: Literal["reference", "contexts", "samples"]
    sentences: tuple[SentenceFinding, ...]
    is_consistent: bool | None = None
    """The judge's own flag for the whole candidate, where it gives one."""
    consistent_share: float
    """The paper's score: ((sum of marks + alpha) / (entries + beta) + 1) / 2."""
    alpha: int = 0
    beta: int = 0
    threshold: float
    """A response whose consistent share reaches this is accepted."""
    samples: tuple[SampleAgreement, ...] = ()
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    calls_saved: int = 0
    """AMC questions that fixed opening words made needless."""
    asked_again: int = 0
    """Sentences that the judge left out or merged and was asked about once more; at least 1 if it invented any."""
    invented: int = 0
    """Entries of the judge that, asked again too, were no sentence of the response; they count for nothing."""


AbstentionCause = Literal[
    "no_checker", "no_reference", "empty_response", "judge_failed", "judge_unusable", "too_long", "timeout", "budget"
]


class Abstention(Wire):
    """Why a checker could not decide."""

    type: Literal["abstention"] = "abstention"
    cause: AbstentionCause
    detail: str


class PluginEvidence(Wire):
    """Evidence of a checker that did not come with this package."""

    type: Literal["plugin"] = "plugin"
    checker: str
    findings: dict[str, JsonValue]


Evidence = Annotated[ConsistencyEvidence | Abstention | PluginEvidence, Field(discriminator="type")]
"""Any evidence, told apart by `type`."""
