"""Triplets from a user's own texts: another number by rule, all other edits by the judge, a gate behind both."""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from checkers.draws import generator, seed_of
from checkers.model_patience import ModelPatience
from lab.audit.cases import Triplet
from lab.audit.relations import Relation, relation_of
from models.concurrent import gather_or_cancel
from models.prompts import PromptSet
from models.protocol import Model, ModelFailed, ReplyT
from models.wording import straightened

# A number that is no part of an ordinal, a range or a code (3rd, 1914-1918, B12).
_NUMBER = re.compile(r"(?<![\w.,–-])(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,6})?(?![\w–-]|[.,]\d)")

_EDITS: Mapping[Relation, str] = {
    "word_swap": "Let two names or two things of the text change places, and change no other word.",
    "object_substitution": "Replace one noun, which names a thing, a person or a place, by another of its kind.",
    "action_substitution": "Replace one verb, which names an action, by another of its kind.",
    "negative_expression": "Put one negation in, or take one out.",
    "word_deletion": "Leave out a word or a phrase that narrows what is said, so that the text says less.",
}
"""What makes the negative of the base, in words for the judge that makes it."""

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
"""The same for the judge that looks at the triplet."""

_Text = Annotated[str, Field(pattern=r"\S")]


def with_another_number(text: str, random: Random) -> str | None:
    """The text with a number times a random factor in [0, 2] but 1, written as before; None if there is none."""
    places = list(_NUMBER.finditer(text))
    if not places:
        return None
    match = random.choice(places)
    written = shown = match[0]
    value, digits = float(written.replace(",", "")), len(written.partition(".")[2])
    while float(shown.replace(",", "")) == value:
        # Nothing times anything is nothing: zero becomes a small number.
        new = random.uniform(0, 2) * value if value else random.uniform(0, 10)
        shown = f"{new:,.{digits}f}" if "," in written else f"{new:.{digits}f}"
    return text[: match.start()] + shown + text[match.end() :]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rewording(_Reply):
    rewording: _Text


class ChangedRewording(Rewording):
    change: str


class Evidence(_Reply):
    context: _Text
    without_evidence: _Text


class Quality(_Reply):
    reason: str
    positive_holds: bool
    negative_differs: bool
    well_formed: bool


class TripletWriter(PromptSet):
    """Asks a judge for positives and negatives, and for its word on the result; raises what the judge raises."""

    package = "lab.audit.prompts"

    def __init__(self, judge: Model) -> None:
        super().__init__()
        self._judge = judge

    async def positive(self, text: str) -> str:
        """Write the same as `text`, in other words and another structure."""
        reply = await self._asked("positive", Rewording, text, lambda it: _fault("rewording", it.rewording, text))
        return reply.rewording.strip()

    async def negative(self, text: str, relation: Relation) -> str:
        """Write almost the words of `text`, with an edit of the relation, or with another meaning as a whole."""
        edit = _EDITS.get(relation)

        def complaint(reply: ChangedRewording) -> str | None:
            made = relation_of(text, reply.rewording)
            if relation in ("word_swap", "negative_expression", "word_deletion") and made != relation:
                return f"'rewording' is no such edit. {edit}"
            if edit and abs(len(reply.rewording.split()) - len(text.split())) > 2 and relation != "word_deletion":
                return "'rewording' must be the text with a word or two changed"
            return _fault("rewording", reply.rewording, text)

        name, words = ("edit", {"edit": edit}) if edit else ("back_translation", {})
        return (await self._asked(name, ChangedRewording, text, complaint, words)).rewording.strip()

    async def inference(self, claim: str) -> tuple[str, str]:
        """Write a passage that entails `claim`, and the same passage without its evidence."""

        def complaint(reply: Evidence) -> str | None:
            if len(reply.without_evidence) >= len(reply.context):
                return "'without_evidence' must be shorter than 'context'"
            return _fault("context", reply.context, claim) or _fault("without_evidence", reply.without_evidence, claim)

        reply = await self._asked("inference", Evidence, claim, complaint)
        return reply.context.strip(), reply.without_evidence.strip()

    async def approves(self, triplet: Triplet) -> bool:
        """Tell if the judge finds nothing wrong with the triplet (paper, section 3.3)."""
        texts = {"base": triplet.base, "positive": triplet.positive, "negative": triplet.negative}
        made = {"relation": _MADE_BY[triplet.relation]}
        reply = (await self._judge.ask(self._question("quality", "retrieval.quality", Quality, texts, made))).reply
        return reply.positive_holds and reply.negative_differs and reply.well_formed

    async def _asked(
        self,
        name: str,
        reply: type[ReplyT],
        text: str,
        complaint: Callable[[ReplyT], str | None],
        words: Mapping[str, str] | None = None,
    ) -> ReplyT:
        task, texts = f"retrieval.{name}", {"text": text}
        question = self._question(name, task, reply, texts, words or {}, complaint=complaint)
        return (await self._judge.ask(question)).reply


def _fault(field: str, written: str, text: str) -> str | None:
    return f"'{field}' must not be the given text itself" if straightened(written) == straightened(text) else None


@dataclass(frozen=True, slots=True)
class TripletAttempt:
    """The outcome of one text under one relation."""

    relation: Relation
    triplet: Triplet | None
    missing: str = ""
    """Why there is no triplet: what is to be said of its text."""
    failure: str = ""
    """What the judge failed with."""


async def make_triplets(
    texts: Iterable[str],
    relations: Sequence[Relation],
    judge: Model,
    patience: ModelPatience,
    *,
    seed: int = 0,
    concurrency: int = 16,
) -> AsyncIterator[TripletAttempt]:
    """An attempt for every text and relation, in that order; `concurrency` of them are under way at once.

    The same texts, relations and seed give the same numbers. `judge` must be one that writes.
    """
    writer = TripletWriter(judge)

    async def attempt(text: str, relation: Relation) -> TripletAttempt:
        try:
            return await patience.until_answered(lambda: _made(writer, text, relation, seed_of(seed, relation, text)))
        except ModelFailed as error:
            return TripletAttempt(relation, None, "had no usable answer from the judge", error.detail)

    pending = ((text, relation) for text in texts for relation in relations)
    while batch := list(islice(pending, concurrency)):
        for done in await gather_or_cancel(attempt(*one) for one in batch):
            yield done


async def _made(writer: TripletWriter, text: str, relation: Relation, drawn: str) -> TripletAttempt:
    if relation == "inference_error":
        positive, negative = await writer.inference(text)
    elif relation == "quantifier_substitution":
        made = with_another_number(text, generator(drawn, "negative"))
        if made is None:
            return TripletAttempt(relation, None, "have no number")
        positive, negative = await writer.positive(text), made
    else:
        positive, negative = await writer.positive(text), await writer.negative(text, relation)
    triplet = Triplet(f"{relation}-{drawn[:12]}", relation, text, positive, negative)
    if await writer.approves(triplet):
        return TripletAttempt(relation, triplet)
    return TripletAttempt(relation, None, "gave a triplet that the judge found bad")
