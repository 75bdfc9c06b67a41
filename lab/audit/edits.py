"""Triplets from a user's own texts: negatives by rule or judge, positives by the judge, a gate behind both.

A rule changes only what it is sure of (paper, section 3.2). Edits that need to know which word is a thing or an action
are the judge's.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import combinations, islice
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkers.draws import generator, seed_of
from checkers.model_patience import ModelPatience
from checkers.retrieval.relations import Relation
from checkers.retrieval.tagging import tag
from lab.audit.cases import Triplet
from models.concurrent import gather_or_cancel
from models.prompts import Placeholders, PromptSet
from models.protocol import Model, ModelFailed, ReplyT
from models.text.closed_class import CLOSED_CLASS
from models.text.dates import MONTHS, WEEKDAYS
from models.text.negation import is_negator
from models.text.typography import straightened

Edit = Callable[[str, Random], Iterator[str]]
"""From a text to changed texts, in random order."""

_LONGEST = 500
"""A longer text is hardly one sentence."""

# A number that is no part of an ordinal, a range or a code (3rd, 1914-1918, B12).
_NUMBER = re.compile(r"(?<![\w.,–-])([$€£]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(%?)(?![\w–-]|[.,]\d)")
_MOST_DRAWS = 50
_LAST_DAY = 28
_YEARS = range(1000, 2100)

_CLOSED = "|".join(map(re.escape, sorted(CLOSED_CLASS)))
_NAMES = re.compile(r"\b[a-z]+,? ([A-Z][a-z]{2,})\b(?! [A-Z]| ?-)")
_THINGS = re.compile(rf"\b[Tt]he (?!(?:{_CLOSED})\b)([a-z]+)\b(?= (?!of\b)(?:{_CLOSED}|\w+ed)\b| ?[.,;])")
_UNNAMED = frozenset({*MONTHS, *WEEKDAYS, *CLOSED_CLASS})
_JOINING = frozenset({"and", "or", "nor", "&", "/", ",", "the", "a", "an", "to"})

_BE, _PERFECT = "am|is|are|was|were", "has|have|had"
_MODALS = "can|could|may|might|must|shall|should|will|would"
_CONTENT = rf"(?!(?:{_CLOSED})\b)[a-z]+\b"
_PARTICIPLE = r"(?:\w{2,}(?:ed|en|ing)|been|done|made|held|left|lost|met|paid|said|sent|sold|told|won)\b"
# "did not go" would be left with a "did" that nobody says.
_DENIED = re.compile(rf"(\b(?:{_BE}|{_PERFECT}|{_MODALS})) not\b")
_DENIABLE = re.compile(
    rf"(?<=\w)(?<!\bthe)(?<!\ba) (?:(?:{_BE})(?= (?:(?:an?|in|on|at)\b|{_CONTENT}))|(?:{_PERFECT})(?= {_PARTICIPLE})"
    rf"|(?:{_MODALS})(?= (?:(?:be|have|do)\b|{_CONTENT})))"
)

_NARROWING = re.compile(
    r"\s*\([^()]*\)"
    r"|,\s(?:who|which|where|when|while|after|before|because|although|including)\b[^,;.]{8,}(?=[.,])"
    r"|(?<=[a-z])\s(?:in|at|on|during|after|before|near)\s(?:the|an?|\d+|[A-Z])(?:(?! and )[\w' -]){0,40}(?=\s?[.!]$)"
    rf"|(?<=\w)\s(?!only|likely|early)[a-z]{{2,}}ly(?=\s{_CONTENT})"
    r"|\b(?:all|both|about|almost|nearly|over)\s(?=(?:the\s)?\d)"
)


def swaps(text: str, random: Random) -> Iterator[str]:
    """Exchange two names, two things that begin with "the", or two numbers of one sort."""
    names = [match for match in _NAMES.finditer(text) if match[1].lower() not in _UNNAMED]
    spans = [[match.span(1) for match in found] for found in (names, _THINGS.finditer(text))]
    spans.append([match.span() for match in _NUMBER.finditer(text)])
    pairs = [pair for places in spans for pair in combinations(places, 2) if _differ(text, *pair)]
    random.shuffle(pairs)
    for (a, b), (c, d) in pairs:
        yield text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def negations(text: str, random: Random) -> Iterator[str]:
    """Take a "not" out behind an auxiliary, or put one in where nothing is denied or asked."""
    made = [text[: match.end(1)] + text[match.end() :] for match in _DENIED.finditer(text)]
    if "?" not in text and not any(map(is_negator, re.findall(r"[\w']+", text.lower().replace("’", "'")))):
        made += [f"{text[: match.end()]} not{text[match.end() :]}" for match in _DENIABLE.finditer(text)]
    random.shuffle(made)
    yield from made


def deletions(text: str, random: Random) -> Iterator[str]:
    """Take out what only narrows the sense: brackets, a clause, the last phrase, an adverb, a word before a number."""
    found = list(_NARROWING.finditer(text))
    random.shuffle(found)
    for match in found:
        yield text[: match.start()] + text[match.end() :]


def numbers(text: str, random: Random) -> Iterator[str]:
    """Multiply a number by a random factor in [0, 2] but 1, and write it as before."""
    places = list(_NUMBER.finditer(text))
    random.shuffle(places)
    for match in places:
        beside = {*text[: match.start()].lower().split()[-1:], *re.findall(r"\w+", text[match.end() :].lower())[:1]}
        changed = _changed(match[2], random, dated=not beside.isdisjoint(MONTHS))
        if changed is not None:
            yield text[: match.start(2)] + changed + text[match.end(2) :]


RULES: Mapping[Relation, Edit] = {
    "word_swap": swaps,
    "negative_expression": negations,
    "word_deletion": deletions,
    "quantifier_substitution": numbers,
}
"""The edit of each relation that a rule can make."""


def by_rule(text: str, relation: Relation, random: Random) -> str | None:
    """A text that looks the same and says something else; None if the text offers no place for a safe change."""
    made = RULES[relation](text, random) if len(text) <= _LONGEST else iter(())
    # What the tagging would call something else is passed over: a negative is of no use under a wrong name.
    return next((one for one in made if tag(text, one).relation == relation), None)


def _changed(written: str, random: Random, *, dated: bool) -> str | None:
    """Another number that may stand there: a day stays a day, a year a year, one and many keep their nouns."""
    value = Decimal(written.replace(",", ""))
    digits = len(written.partition(".")[2])
    # Twice the number may have a digit more; the default context has room for 28.
    step, room = Decimal(1).scaleb(-digits), Context(prec=len(written) + 1)
    for _ in range(_MOST_DRAWS):
        # Nothing times anything is nothing: zero becomes a small number.
        factor = Decimal(repr(random.uniform(0, 2)))
        new = (value * factor if value else factor * 10).quantize(step, ROUND_HALF_UP, room)
        if dated:
            fits = 1 <= new <= (_LAST_DAY if value <= 31 else _YEARS.stop)
        elif value in _YEARS and "," not in written:
            fits = int(new) in _YEARS
        else:
            # "1 house" and "0 houses": what follows would have to change with it.
            fits = (value == 1) == (new == 1) and (new != 0 or value == 0)
        if new != value and fits:
            return f"{new:,.{digits}f}" if "," in written else f"{new:.{digits}f}"
    return None


def _differ(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if the exchange changes what is said: two different words, no members of one list, numbers of one sort."""
    first, second = text[slice(*one)], text[slice(*other)]
    if first.lower() == second.lower() or set(text[one[1] : other[0]].lower().replace(",", " , ").split()) <= _JOINING:
        return False
    mine, yours = _NUMBER.fullmatch(first), _NUMBER.fullmatch(second)
    if mine is None or yours is None:
        return True
    # 1871 stands where a year stands, $5 among prices; one and many keep their nouns.
    return (
        mine[1] + mine[3] == yours[1] + yours[3]
        and (len(mine[2]) == 4) == (len(yours[2]) == 4)
        and "1" not in (mine[2], yours[2])
    )


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

_Text = Annotated[str, Field(pattern=r"\S")]


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
    """Asks a judge for positives, for negatives that no rule makes, and for its word on the result."""

    package = "lab.audit.prompts"
    placeholders: ClassVar = {
        **dict.fromkeys(("positive", "back_translation", "inference"), Placeholders(("text",))),
        "substitution": Placeholders(("text",), ("part",)),
        "quality": Placeholders(("base", "positive", "negative"), ("relation",)),
    }

    def __init__(self, judge: Model) -> None:
        """Each method raises what the judge raises (ModelFailed, ModelUnavailable)."""
        super().__init__()
        self._judge = judge

    async def positive(self, text: str) -> str:
        """Write the same as `text`, in other words and another structure."""
        reply = await self._asked("positive", Rewording, text, lambda it: _fault("rewording", it.rewording, text))
        return reply.rewording.strip()

    async def negative(self, text: str, relation: Relation) -> str:
        """Write almost the words of `text`, with another thing or action, or with another meaning as a whole."""
        part = _SUBSTITUTED.get(relation)

        def complaint(reply: ChangedRewording) -> str | None:
            if part and abs(len(reply.rewording.split()) - len(text.split())) > 2:
                return "'rewording' must be the text with one word replaced"
            return _fault("rewording", reply.rewording, text)

        name, words = ("substitution", {"part": part}) if part else ("back_translation", {})
        return (await self._asked(name, ChangedRewording, text, complaint, words)).rewording.strip()

    async def inference(self, claim: str) -> tuple[str, str]:
        """Write a passage that entails `claim`, and the same passage without its evidence."""

        def complaint(reply: Evidence) -> str | None:
            if len(reply.without_evidence) >= len(reply.context):
                return "'without_evidence' must be shorter than 'context'"
            return _fault("context", reply.context, claim) or _fault("without_evidence", reply.without_evidence, claim)

        reply = await self._asked("inference", Evidence, claim, complaint)
        return reply.context.strip(), reply.without_evidence.strip()

    async def fault(self, triplet: Triplet) -> str | None:
        """Say what is wrong with the triplet by the judge's word; None if nothing is (paper, section 3.3)."""
        texts = {"base": triplet.base, "positive": triplet.positive, "negative": triplet.negative}
        made = {"relation": _MADE_BY[triplet.relation]}
        reply = (await self._judge.ask(self._question("quality", "retrieval.quality", Quality, texts, made))).reply
        return None if reply.positive_holds and reply.negative_differs and reply.well_formed else reply.reason

    async def _asked(
        self,
        name: str,
        reply: type[ReplyT],
        text: str,
        complaint: Callable[[ReplyT], str | None],
        words: Mapping[str, str] | None = None,
    ) -> ReplyT:
        task, fenced = f"retrieval.{name}", {"text": text}
        question = self._question(name, task, reply, fenced, words or {}, complaint=complaint)
        return (await self._judge.ask(question)).reply


def _fault(field: str, written: str, text: str) -> str | None:
    return f"'{field}' must not be the given text itself" if straightened(written) == straightened(text) else None


Missing = Literal["no_place", "judge_failed", "refused"]
"""Why there is no triplet: the text offers no place for a safe change, the judge gave no usable answer, or its gate
found the triplet bad."""


@dataclass(frozen=True, slots=True)
class TripletAttempt:
    """The outcome of one text under one relation."""

    relation: Relation
    triplet: Triplet | None
    missing: Missing | None = None
    detail: str = ""
    """The judge's words, if it was asked and there is no triplet."""


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

    The same texts, relations and seed give the same negatives by rule. `judge` must be one that writes.
    """
    writer = TripletWriter(judge)

    async def attempt(text: str, relation: Relation) -> TripletAttempt:
        try:
            return await patience.until_answered(lambda: _made(writer, text, relation, seed))
        except ModelFailed as error:
            return TripletAttempt(relation, None, "judge_failed", error.detail)

    pending = ((text, relation) for text in texts for relation in relations)
    while batch := list(islice(pending, concurrency)):
        for done in await gather_or_cancel(attempt(*one) for one in batch):
            yield done


async def _made(writer: TripletWriter, text: str, relation: Relation, seed: int) -> TripletAttempt:
    drawn = seed_of(seed, relation, text)
    if relation == "inference_error":
        positive, negative = await writer.inference(text)
    elif relation in RULES:
        made = by_rule(text, relation, generator(drawn, "negative"))
        if made is None:
            return TripletAttempt(relation, None, "no_place")
        positive, negative = await writer.positive(text), made
    else:
        positive, negative = await writer.positive(text), await writer.negative(text, relation)
    triplet = Triplet(f"{relation}-{drawn[:12]}", relation, text, positive, negative)
    fault = await writer.fault(triplet)
    return TripletAttempt(relation, triplet) if fault is None else TripletAttempt(relation, None, "refused", fault)
