"""What a judge is asked for when triplets are made: positives, the sentence-level negatives, and if they are good."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar, get_args

from pydantic import BaseModel

from checkers.oracle.prompts import Template, load_template
from checkers.oracle.protocol import Question
from checkers.retrieval.making.replies import BackTranslationReply, InferenceReply, PositiveReply, QualityReply
from checkers.retrieval.relations import Relation
from checkers.retrieval.triplets import Triplet

_PACKAGE = "checkers.retrieval.prompts"
_Writing = Literal["positive", "back_translation", "inference"]
_WRITING: tuple[_Writing, ...] = get_args(_Writing)
_ReplyT = TypeVar("_ReplyT", bound=BaseModel)

MADE_BY: Mapping[Relation, str] = {
    "word_swap": "two words of the base changed places.",
    "object_substitution": "a noun of the base was replaced by another thing.",
    "action_substitution": "a verb of the base was replaced by another action.",
    "negative_expression": "a negation was put into the base or taken out, or an adjective turned into its opposite.",
    "word_deletion": "words of the base were left out, so that it says less.",
    "quantifier_substitution": "a number of the base was changed.",
    "back_translation_error": "the base was reworded with another meaning, as a poor translation there and back does.",
    "inference_error": "the positive, a passage that the base follows from, lost the words that it follows from.",
}
"""In words for a judge, by relation."""


class Questions:
    """Renders questions from the templates that come with the package."""

    def __init__(self) -> None:
        self._writing = {name: _load(name, ("text",)) for name in _WRITING}
        self._quality = _load("quality", ("base", "positive", "negative"), ("relation",))

    def positive(self, text: str) -> Question[PositiveReply]:
        """The same as `text` in other words."""

        def complaint(reply: PositiveReply) -> str | None:
            return _fault("rewording", reply.rewording, text)

        return self._question("positive", text, PositiveReply, complaint)

    def back_translation(self, text: str) -> Question[BackTranslationReply]:
        """Almost the words of `text`, with another meaning."""

        def complaint(reply: BackTranslationReply) -> str | None:
            return _fault("rewording", reply.rewording, text)

        return self._question("back_translation", text, BackTranslationReply, complaint)

    def inference(self, claim: str) -> Question[InferenceReply]:
        """A passage that entails `claim`, and the same without the evidence."""

        def complaint(reply: InferenceReply) -> str | None:
            if len(reply.without_evidence) >= len(reply.context):
                return "'without_evidence' must be shorter than 'context'"
            return _fault("context", reply.context, claim) or _fault("without_evidence", reply.without_evidence, claim)

        return self._question("inference", claim, InferenceReply, complaint)

    def quality(self, triplet: Triplet) -> Question[QualityReply]:
        """Whether the triplet is what it is meant to be."""
        texts = {"base": triplet.base, "positive": triplet.positive, "negative": triplet.negative}
        return Question(
            task="retrieval.quality",
            prompt_version=self._quality.version,
            messages=self._quality.render(texts, {"relation": MADE_BY[triplet.relation]}),
            reply=QualityReply,
        )

    def _question(
        self, name: _Writing, text: str, reply: type[_ReplyT], complaint: Callable[[_ReplyT], str | None]
    ) -> Question[_ReplyT]:
        template = self._writing[name]
        return Question(
            task=f"retrieval.{name}",
            prompt_version=template.version,
            messages=template.render({"text": text}),
            reply=reply,
            complaint=complaint,
        )


def _fault(field: str, written: str, text: str) -> str | None:
    if not written.strip():
        return f"'{field}' is empty"
    return f"'{field}' must not be the given text itself" if written.split() == text.split() else None


def _load(name: str, fenced: tuple[str, ...], plain: tuple[str, ...] = ()) -> Template:
    return load_template(name, package=_PACKAGE, fenced=fenced, plain=plain)
