"""Triplets {base | positive, negative}, where the negative only looks like the base: of files, or made of texts.

Another number is made by rule, all other edits by the judge, with a gate behind both.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from assay.cli.common import CannotRun, models_of, progress
from assay.config import Configuration
from checkers.draws import generator, seed_of
from checkers.lines import read_forms
from checkers.longtail.yes_or_no import is_negator
from checkers.model_patience import ModelPatience
from checkers.wording import plain
from lab.audit import MADE, RELATIONS, Relation
from lab.runs import each
from models.prompts import PromptSet
from models.protocol import Model, ModelFailed, ReplyT
from models.wording import straightened
from models.work import in_order

_AUTHORS: Mapping[object, Relation] = {
    "obj_sub": "object_substitution",
    "verb_sub": "action_substitution",
    "nega_exp": "negative_expression",
    "word_del": "word_deletion",
    "num_sub": "quantifier_substitution",
    "err_translate": "back_translation_error",
    "err_nli": "inference_error",
}
"""The names of relations in the data of the paper's authors, if different."""

_Sentence = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]


class Triplet(BaseModel):
    """One test case: whatever matches the base should find the positive closer than the negative."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: str = Field("", coerce_numbers_to_str=True)
    relation: Annotated[Relation, BeforeValidator(lambda name: _AUTHORS.get(str(name), name))] = Field(
        validation_alias=AliasChoices("relation", "mr")
    )
    """The edit that makes the negative of the base."""
    base: _Sentence
    positive: _Sentence
    negative: _Sentence
    unrelated: _Sentence | None = Field(None, validation_alias=AliasChoices("unrelated", "unrelated_negative"))
    """A text about something else."""


Groups = Mapping[str, Sequence[Triplet]]
"""Triplets by relation, or by any other name that they are counted under."""


def read_triplets(path: Path) -> Iterator[Triplet]:
    """The triplets of a file of JSON lines, one by one."""
    return read_forms(Triplet, path, "triplet", fault=CannotRun)


def write_triplets(path: Path, triplets: Iterable[Triplet]) -> None:
    """Write JSON lines that `read_triplets` reads."""
    path.write_text("".join(f"{triplet.model_dump_json()}\n" for triplet in triplets), encoding="utf-8")


def read_texts(path: Path) -> list[str]:
    """The distinct texts of a file, one a line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise CannotRun(f"{path}: byte {error.start} is not UTF-8") from None
    found = dict.fromkeys(line.strip() for line in lines if line.strip())
    if not found:
        raise CannotRun(f"{path}: holds no text")
    return list(found)


async def gather(
    configured: Configuration,
    *,
    triplets: Sequence[Path],
    texts: Path | None,
    relations: Sequence[Relation],
    seed: int,
    save: Path | None,
) -> tuple[Groups, list[str]]:
    """Read the triplets of all or some relations, or make them of texts and keep them in `save`; with notes on gaps.

    Raises CannotRun for options that do not go together, or if there is no triplet.
    """
    notes: list[str] = []
    if texts is None:
        if save is not None:
            raise CannotRun("--save-triplets is for --texts")
        found = [one for path in triplets for one in read_triplets(path)]
    elif unmade := [relation for relation in relations if relation not in MADE]:
        raise CannotRun(f"--relation {unmade[0]}: no triplets can be made of it; allowed are {', '.join(MADE)}")
    else:
        found, notes = await _made(read_texts(texts), relations or MADE, configured, seed, save)
    by_relation = {name: [one for one in found if one.relation == name] for name in relations or RELATIONS}
    groups: Groups = {str(name): group for name, group in by_relation.items() if group}
    if not groups:
        why = "; ".join(notes) or f"the relations asked for are {', '.join(relations)}"
        raise CannotRun(f"there is no triplet to audit with: {why}")
    return groups, notes + [f"{relation}: no triplet" for relation in relations if relation not in groups]


async def _made(
    texts: list[str], relations: Sequence[Relation], configured: Configuration, seed: int, save: Path | None
) -> tuple[list[Triplet], list[str]]:
    attempts: list[TripletAttempt] = []
    async with models_of(configured) as models:
        if models.writer is None:
            raise CannotRun(
                "--texts: the judge cannot write, and positives must be written; "
                "configure an endpoint (judge.backend = 'openai'), or give --triplets"
            )
        try:
            with progress(len(texts) * len(relations)) as shown:

                def emit(attempt: TripletAttempt) -> None:
                    attempts.append(attempt)
                    shown.at(len(attempts), f"{len(attempts)} triplets tried")

                writer, patience = TripletWriter(models.writer, seed), ModelPatience(shown.say)
                await writer.attempt_all(texts, relations, emit, patience, window=configured.judge.concurrency)
        finally:
            # Also if the judge is lost: the others may have taken it hours.
            made = [one.triplet for one in attempts if one.triplet is not None]
            if save is not None and made:
                write_triplets(save, made)
    missing = Counter((one.relation, one.missing) for one in attempts if one.triplet is None)
    notes = [f"{relation}: {count} of {len(texts)} texts {why}" for (relation, why), count in missing.items()]
    failed = [f"the judge failed first with: {plain(one.failure)}" for one in attempts if one.failure]
    return made, notes + failed[:1]


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
_WORDING_TOKENS, _PASSAGE_TOKENS = 150, 600  # of a sentence about a text, and of a passage with its copy


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


class TripletAttempt(NamedTuple):
    """The outcome of one text under one relation."""

    relation: Relation
    triplet: Triplet | None
    missing: str = ""  # why there is no triplet: what is to be said of its text
    failure: str = ""  # what the judge failed with


class TripletWriter(PromptSet):
    """Asks a judge for positives and negatives, and for its word on the result."""

    package = "lab.audit.prompts"

    def __init__(self, judge: Model, seed: int = 0) -> None:
        """The same texts, relations and seed give the same numbers. `judge` must be one that writes."""
        super().__init__()
        self._judge = judge
        self._seed = seed

    async def attempt_all(
        self,
        texts: Iterable[str],
        relations: Sequence[Relation],
        emit: Callable[[TripletAttempt], None],
        patience: ModelPatience,
        *,
        window: int = 16,
    ) -> None:
        """Give `emit` an attempt for every text and relation, in that order; `window` are under way at once."""

        async def attempt(asked: tuple[str, Relation]) -> TripletAttempt:
            try:
                return await patience.until_answered(lambda: self._attempt(*asked))
            except ModelFailed as error:
                return TripletAttempt(asked[1], None, "had no usable answer from the judge", error.detail)

        await in_order(each(product(texts, relations)), attempt, emit, window=window)

    async def _attempt(self, text: str, relation: Relation) -> TripletAttempt:
        drawn = seed_of(self._seed, relation, text)
        if relation == "inference_error":
            positive, negative = await self._inference(text)
        elif relation == "quantifier_substitution":
            made = with_another_number(text, generator(drawn, "negative"))
            if made is None:
                return TripletAttempt(relation, None, "have no number")
            positive, negative = await self._positive(text), made
        else:
            positive, negative = await self._positive(text), await self._negative(text, relation)
        name = f"{relation}-{drawn[:12]}"
        triplet = Triplet(id=name, relation=relation, base=text, positive=positive, negative=negative)
        if await self._approves(triplet):
            return TripletAttempt(relation, triplet)
        return TripletAttempt(relation, None, "gave a triplet that the judge found bad")

    async def _positive(self, text: str) -> str:
        """Write the same as `text`, in other words and another structure."""
        reply = await self._asked("positive", Rewording, text, lambda it: _fault("rewording", it.rewording, text))
        return reply.rewording.strip()

    async def _negative(self, text: str, relation: Relation) -> str:
        """Write almost the words of `text`, with an edit of the relation, or with another meaning as a whole."""
        edit = _EDITS.get(relation)

        def complaint(reply: ChangedRewording) -> str | None:
            if not _may_be(relation, text, reply.rewording):
                return f"'rewording' is no such edit. {edit}"
            if edit and abs(len(reply.rewording.split()) - len(text.split())) > 2 and relation != "word_deletion":
                return "'rewording' must be the text with a word or two changed"
            return _fault("rewording", reply.rewording, text)

        name, words = ("edit", {"edit": edit}) if edit else ("back_translation", {})
        return (await self._asked(name, ChangedRewording, text, complaint, words)).rewording.strip()

    async def _inference(self, claim: str) -> tuple[str, str]:
        """Write a passage that entails `claim`, and the same passage without its evidence."""

        def complaint(reply: Evidence) -> str | None:
            if len(reply.without_evidence) >= len(reply.context):
                return "'without_evidence' must be shorter than 'context'"
            return _fault("context", reply.context, claim) or _fault("without_evidence", reply.without_evidence, claim)

        reply = await self._asked("inference", Evidence, claim, complaint)
        return reply.context.strip(), reply.without_evidence.strip()

    async def _approves(self, triplet: Triplet) -> bool:
        """Tell if the judge finds nothing wrong with the triplet (paper, section 3.3)."""
        texts = {"base": triplet.base, "positive": triplet.positive, "negative": triplet.negative}
        made = {"relation": _MADE_BY[triplet.relation]}
        question = self._question("quality", "retrieval.quality", Quality, texts, made, max_tokens=_WORDING_TOKENS)
        reply = (await self._judge.ask(question)).reply
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
        most = _WORDING_TOKENS + (_PASSAGE_TOKENS if reply is Evidence else len(text))
        question = self._question(name, task, reply, texts, words or {}, complaint=complaint, max_tokens=most)
        return (await self._judge.ask(question)).reply


def _fault(field: str, written: str, text: str) -> str | None:
    return f"'{field}' must not be the given text itself" if straightened(written) == straightened(text) else None


def _may_be(relation: Relation, text: str, edited: str) -> bool:
    """False if the words alone show that a text was not edited as the relation has it."""
    words, others = ([word.strip(".,;:!?") for word in straightened(one).lower().split()] for one in (text, edited))
    negated = any(map(is_negator, words)) != any(map(is_negator, others))
    if relation == "word_swap":
        return sorted(words) == sorted(others)
    if relation == "negative_expression":
        return negated
    if relation == "word_deletion":
        left = iter(words)
        return not negated and all(word in left for word in others)
    return True
