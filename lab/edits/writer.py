"""The part of triplets that a judge writes: positives, the sentence-level negatives; and its word on the result."""

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from checkers.retrieval.relations import Relation
from lab.triplets import Triplet
from models.prompts import Placeholders, Templates
from models.protocol import Oracle, Question
from models.text.typography import straightened

_PACKAGE = "checkers.retrieval.prompts"
_PLACEHOLDERS = {
    **dict.fromkeys(("positive", "back_translation", "inference"), Placeholders(("text",))),
    "quality": Placeholders(("base", "positive", "negative"), ("relation",)),
}

_MADE_BY: Mapping[Relation, str] = {
    "word_swap": "two words of the base changed places.",
    "object_substitution": "a noun of the base was replaced by another thing.",
    "action_substitution": "a verb of the base was replaced by another action.",
    "negative_expression": "a negation was put into the base or taken out, or an adjective turned into its opposite.",
    "word_deletion": "words of the base were left out, so that it says less.",
    "quantifier_substitution": "a number of the base was changed.",
    "back_translation_error": "the base was reworded with another meaning, as a poor translation there and back does.",
    "inference_error": "the positive, a passage that the base follows from, lost the words that it follows from.",
}
"""How the negative was made, in words for a judge."""

_Text = Annotated[str, Field(min_length=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rewording(_Reply):
    rewording: _Text


class _ChangedRewording(_Rewording):
    change: str


class _Evidence(_Reply):
    context: _Text
    without_evidence: _Text


class _Quality(_Reply):
    reason: str
    positive_holds: bool
    negative_differs: bool
    well_formed: bool


_ReplyT = TypeVar("_ReplyT", bound=_Reply)


class TripletWriter:
    """Every method raises what the judge raises (OracleFailed, OracleUnavailable)."""

    def __init__(self, judge: Oracle) -> None:
        self._judge = judge
        self._templates = Templates(_PACKAGE, _PLACEHOLDERS)

    async def positive(self, text: str) -> str:
        """The same as `text`, in other words and another structure."""
        reply = await self._write("positive", text, _Rewording, lambda it: _fault("rewording", it.rewording, text))
        return reply.rewording.strip()

    async def back_translation(self, text: str) -> str:
        """Almost the words of `text`, with another meaning."""
        reply = await self._write(
            "back_translation", text, _ChangedRewording, lambda it: _fault("rewording", it.rewording, text)
        )
        return reply.rewording.strip()

    async def inference(self, claim: str) -> tuple[str, str]:
        """A passage that entails `claim`, and the same passage without its evidence."""

        def complaint(reply: _Evidence) -> str | None:
            if len(reply.without_evidence) >= len(reply.context):
                return "'without_evidence' must be shorter than 'context'"
            return _fault("context", reply.context, claim) or _fault("without_evidence", reply.without_evidence, claim)

        reply = await self._write("inference", claim, _Evidence, complaint)
        return reply.context.strip(), reply.without_evidence.strip()

    async def fault(self, triplet: Triplet) -> str | None:
        """What is wrong with the triplet by the judge's word; None if nothing is (paper, section 3.3)."""
        texts = {"base": triplet.base, "positive": triplet.positive, "negative": triplet.negative}
        question = Question(
            task="retrieval.quality",
            prompt_version=self._templates["quality"].version,
            messages=self._templates["quality"].render(texts, {"relation": _MADE_BY[triplet.relation]}),
            reply=_Quality,
        )
        reply = (await self._judge.ask(question)).reply
        return None if reply.positive_holds and reply.negative_differs and reply.well_formed else reply.reason

    async def _write(
        self, name: str, text: str, reply: type[_ReplyT], complaint: Callable[[_ReplyT], str | None]
    ) -> _ReplyT:
        template = self._templates[name]
        question = Question(
            task=f"retrieval.{name}",
            prompt_version=template.version,
            messages=template.render({"text": text}),
            reply=reply,
            complaint=complaint,
        )
        return (await self._judge.ask(question)).reply


def _fault(field: str, written: str, text: str) -> str | None:
    if not written.strip():
        return f"'{field}' is empty"
    return f"'{field}' must not be the given text itself" if straightened(written) == straightened(text) else None
