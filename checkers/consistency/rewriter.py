"""The writer: what it is asked, and which of its answers can be used (paper, appendix A.2, RAI)."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from models.judges.questions import UNKNOWN_QUESTION
from models.prompts import PromptSet
from models.protocol import Model, ModelFailed, Question, Reply
from models.work import gather_or_cancel
from schemas import Generation, SentenceFinding
from schemas.base import Text

_IMPROVE = "improve"
_GROWTH, _ALLOWANCE = 3, 200
"""Times as many characters, and more: what is longer is no rewrite of a sentence but its own text."""
_CHARACTERS_A_TOKEN, _LEAST_TOKENS = 2, 100


class SentenceRewrite(Reply):
    """A sentence, rewritten; empty where it is to be taken out."""

    improved: Annotated[Text, AfterValidator(str.strip)]


class ImproverQuestions(PromptSet):
    """Questions to a writer."""

    package = "checkers.consistency.prompts"

    def about(self, record: Generation, passages: str, fault: SentenceFinding) -> Question[SentenceRewrite]:
        """A rewrite of a sentence of the record's response."""
        most = _GROWTH * len(fault.text) + _ALLOWANCE

        def complaint(reply: SentenceRewrite) -> str | None:
            return f"'improved' has more than {most} characters" if len(reply.improved) > most else None

        texts = {"text": record.response, "sentence": fault.text, "reason": fault.reason}
        return self._question(
            _IMPROVE,
            f"{_IMPROVE}.{record.effective_task}",
            SentenceRewrite,
            {"passages": passages, "question": record.prompt or UNKNOWN_QUESTION, **texts},
            complaint=complaint,
            written=len(fault.text) // _CHARACTERS_A_TOKEN,
            max_tokens=_LEAST_TOKENS + most // _CHARACTERS_A_TOKEN,
        )


async def rewritten(
    writer: Model, questions: ImproverQuestions, record: Generation, passages: str, findings: Sequence[SentenceFinding]
) -> tuple[dict[int, str], str | None]:
    """New texts of those of `findings` whose mark is -1, by index, one a call, and why others lack one.

    A sentence that comes back as it was has none.

    Raises:
        ModelUnavailable: the writer's endpoint is down.
    """
    faulty = [index for index, finding in enumerate(findings) if finding.mark < 0]

    async def answer(fault: SentenceFinding) -> str | ModelFailed:
        try:
            return (await writer.ask(questions.about(record, passages, fault))).reply.improved
        except ModelFailed as error:
            return error

    told = await gather_or_cancel(answer(findings[index]) for index in faulty)
    pairs = list(zip(faulty, told, strict=True))
    new = {
        index: text
        for index, text in pairs
        if isinstance(text, str) and text.casefold().split() != findings[index].text.casefold().split()
    }
    return new, next((one.detail for _, one in pairs if isinstance(one, ModelFailed)), None)
