"""The part of triplets that a judge writes: positives, negatives that no rule makes; and its word on the result."""

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from checkers.retrieval.relations import Relation
from lab.triplets import Triplet
from models.prompts import Placeholders, Templates
from models.protocol import Model, Question, no_complaint
from models.text.typography import straightened

_PLACEHOLDERS = {
    **dict.fromkeys(("positive", "back_translation", "inference"), Placeholders(("text",))),
    "substitution": Placeholders(("text",), ("part",)),
    "quality": Placeholders(("base", "positive", "negative"), ("relation",)),
}

_MADE_BY: Mapping[Relation, str] = {
    "word_swap": "two words of the base changed places.",
    "object_substitution": "a noun of the base was replaced by another thing.",
    "action_substitution": "a verb of the base was replaced by another action.",
    "negative_expression": "a negation was put into the base or taken out.",
    "word_deletion": "words of the base were left out, so that it says less.",
    "quantifier_substitution": "a number of the base was changed.",
    "back_translation_error": "the base was reworded with another meaning, as a poor translation there and back does.",
    "inference_error": "the positive, a passage that the base follows from, lost the words that it follows from.",
}
"""The way in which the negative was made, in words for a judge."""

_SUBSTITUTED: Mapping[Relation, str] = {
    "object_substitution": "one noun, which names a thing, a person or a place",
    "action_substitution": "one verb, which names an action",
}

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
    """Every method raises what the judge raises (ModelFailed, ModelUnavailable)."""

    def __init__(self, judge: Model) -> None:
        self._judge = judge
        self._templates = Templates("lab.edits.prompts", _PLACEHOLDERS)

    async def positive(self, text: str) -> str:
        """Write the same as `text`, in other words and another structure."""
        reply = await self._asked(
            "positive", {"text": text}, _Rewording, complaint=lambda it: _fault("rewording", it.rewording, text)
        )
        return reply.rewording.strip()

    async def negative(self, text: str, relation: Relation) -> str:
        """Write almost the words of `text`, with another thing or action, or with another meaning as a whole."""
        part = _SUBSTITUTED.get(relation)

        def complaint(reply: _ChangedRewording) -> str | None:
            if part and abs(len(reply.rewording.split()) - len(text.split())) > 2:
                return "'rewording' must be the text with one word replaced"
            return _fault("rewording", reply.rewording, text)

        name, words = ("substitution", {"part": part}) if part else ("back_translation", {})
        reply = await self._asked(name, {"text": text}, _ChangedRewording, words, complaint)
        return reply.rewording.strip()

    async def inference(self, claim: str) -> tuple[str, str]:
        """Write a passage that entails `claim`, and the same passage without its evidence."""

        def complaint(reply: _Evidence) -> str | None:
            if len(reply.without_evidence) >= len(reply.context):
                return "'without_evidence' must be shorter than 'context'"
            return _fault("context", reply.context, claim) or _fault("without_evidence", reply.without_evidence, claim)

        reply = await self._asked("inference", {"text": claim}, _Evidence, complaint=complaint)
        return reply.context.strip(), reply.without_evidence.strip()

    async def fault(self, triplet: Triplet) -> str | None:
        """Say what is wrong with the triplet by the judge's word; None if nothing is (paper, section 3.3)."""
        texts = {"base": triplet.base, "positive": triplet.positive, "negative": triplet.negative}
        reply = await self._asked("quality", texts, _Quality, {"relation": _MADE_BY[triplet.relation]})
        return None if reply.positive_holds and reply.negative_differs and reply.well_formed else reply.reason

    async def _asked(
        self,
        name: str,
        texts: Mapping[str, str],
        reply: type[_ReplyT],
        words: Mapping[str, str] | None = None,
        complaint: Callable[[_ReplyT], str | None] = no_complaint,
    ) -> _ReplyT:
        template = self._templates[name]
        question = Question(
            task=f"retrieval.{name}",
            prompt_version=template.version,
            messages=template.render(texts, words or {}),
            reply=reply,
            complaint=complaint,
        )
        return (await self._judge.ask(question)).reply


def _fault(field: str, written: str, text: str) -> str | None:
    if not written.strip():
        return f"'{field}' is empty"
    return f"'{field}' must not be the given text itself" if straightened(written) == straightened(text) else None
