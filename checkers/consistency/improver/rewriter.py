"""The writer: who it is, what it is asked, and which entries of its answers can be used (paper, appendix A.2, RAI)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue

from checkers.consistency.calls import cover, parts_of, per_call
from checkers.consistency.improver.settings import RewritingSettings
from checkers.consistency.material import CheckedResponse
from models.concurrent import gather_or_cancel
from models.fencing import fence_tag
from models.prompts import Placeholders, PromptSet, as_list
from models.protocol import Judge, Model, ModelFailed, Question, answering, grader_of
from models.replies import salvaging
from schemas import SentenceFinding, Task
from schemas.base import Text

if TYPE_CHECKING:
    from models.meter import UsageListener

_GROWTH, _ALLOWANCE = 3, 200
"""Times as many characters, and more: what is longer is no rewrite of a sentence but a text of its own."""


class SentenceRewrite(BaseModel):
    """One sentence, rewritten; empty where it is to be taken out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    reason: str
    improved: Annotated[Text, AfterValidator(str.strip)]


class SentenceRewrites(BaseModel):
    """RAI's answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: list[SentenceRewrite]


whole_rewrites = salvaging(SentenceRewrites, "sentences")
"""The entries of an answer that was cut off, without the last if that is not whole."""


def usable_rewrites(reply: SentenceRewrites, sentences: Mapping[int, str]) -> dict[int, SentenceRewrite]:
    """The entries of `reply` by number, for those of `sentences` that have exactly one, of a sensible length."""
    times = Counter(entry.number for entry in reply.sentences)
    return {
        entry.number: entry
        for entry in reply.sentences
        if entry.number in sentences
        and times[entry.number] == 1
        and len(entry.improved) <= _GROWTH * len(sentences[entry.number]) + _ALLOWANCE
    }


_IMPROVE = "improve"
_OPTIONAL = ("question", "source", "text", "response", "count")

_WORDS: dict[Task, dict[str, str]] = {
    "summary": {"source": "article", "text": "summary"},
    "answer": {"source": "passages", "text": "answer"},
    "paraphrase": {"source": "true answer", "text": "attempt at it"},
}
"""Names of a task's reference and response; the other placeholders are the same for all tasks."""


class ImproverQuestions(PromptSet):
    """Questions to a writer."""

    package = "checkers.consistency.prompts"
    placeholders: ClassVar = {
        _IMPROVE: Placeholders(
            ("reference", "response", "question", "sentences"), ("source", "text", "count"), _OPTIONAL
        ),
    }

    def about(
        self, material: CheckedResponse, faults: Sequence[SentenceFinding], numbers: Sequence[int]
    ) -> Question[SentenceRewrites]:
        """A rewrite for those of `faults` with these numbers (from 1); they stand in `material.response`."""
        own = {"reference": material.reference, "response": material.response, "question": material.asker}
        lines: list[JsonValue] = [
            {"number": number, "sentence": fault.text, "reason": fault.reason} for number, fault in enumerate(faults, 1)
        ]
        # All parts of the list begin alike, as the judge's questions do.
        tag = fence_tag([*own.values(), as_list(lines)])
        wanted = {number: faults[number - 1].text for number in numbers}

        def complaint(reply: SentenceRewrites) -> str | None:
            if usable_rewrites(reply, wanted):
                return None
            return (
                f"'sentences' needs one entry for each number of the list ({', '.join(map(str, numbers))}), and in "
                "'improved' no more than about three times the sentence's length"
            )

        return self._question(
            _IMPROVE,
            f"{_IMPROVE}.{material.task}",
            SentenceRewrites,
            {**own, "sentences": as_list([lines[number - 1] for number in numbers])},
            {**_WORDS[material.task], "count": str(len(numbers))},
            tag=tag,
            complaint=complaint,
            salvage=whole_rewrites,
        )


_AT_ONCE = 5
_TOKENS_A_REWRITE = 120
"""A long sentence and a reason; with five usual ones a model of 20 tokens a second answers within its time limit."""


class Rewriter:
    """Asks for new versions of inconsistent sentences, a few in a call, and once more for those that are missing."""

    def __init__(self, writer: Model, questions: ImproverQuestions) -> None:
        self._writer = writer
        self._questions = questions
        self._at_once = per_call(writer, _AT_ONCE, tokens_each=_TOKENS_A_REWRITE)

    async def rewrite(
        self, material: CheckedResponse, findings: Sequence[SentenceFinding]
    ) -> tuple[dict[int, SentenceRewrite], str | None]:
        """Rewrites of those of `findings` (at least one) whose mark is -1, by index, and why others lack one.

        Raises:
            ModelUnavailable: the writer's endpoint is down.
        """
        faulty = [index for index, found in enumerate(findings) if found.mark < 0]
        faults = [findings[index] for index in faulty]
        found: dict[int, SentenceRewrite] = {}

        async def ask(numbers: Sequence[int]) -> list[int]:
            answer = await self._writer.ask(self._questions.about(material, faults, numbers))
            wanted = {number: faults[number - 1].text for number in numbers}
            found.update(usable_rewrites(answer.reply, wanted))
            return [number for number in numbers if number not in found]

        async def covered(numbers: Sequence[int]) -> str | None:
            try:
                await cover(numbers, ask)
            except ModelFailed as error:
                return error.detail
            return None

        parts = parts_of(range(1, len(faults) + 1), self._at_once)
        told = await gather_or_cancel(covered(part) for part in parts)
        rewrites = {faulty[number - 1]: rewrite for number, rewrite in found.items()}
        return rewrites, next((fault for fault in told if fault is not None), None)


def build_writer(settings: RewritingSettings, judge: Judge | None, on_usage: "UsageListener | None" = None) -> Model:
    """The writer that `settings` name, else `judge` itself (`is judge` tells whether there is one more to be closed).

    Raises:
        ValueError: nobody is named, and the judge grades.
        RecordingUnreadable: the writer is a replay, and its file cannot be used.
    """
    if settings.writer is not None:
        from models.build import build_model

        return answering(build_model(settings.writer, section="improver.writer", on_usage=on_usage))
    if judge is not None and grader_of(judge) is not None:
        raise ValueError(
            "the local judge compares and cannot write; set improver.writer.base_url and improver.writer.model "
            "(an OpenAI-compatible endpoint), or judge.backend = 'openai'"
        )
    return answering(judge)
