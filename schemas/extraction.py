"""Evidence about the entities found in a text: the linearity test."""

from typing import Literal

from pydantic import Field

from schemas.base import Fraction, Wire


class TestedEntity(Wire):
    """An entity of the record, and what it was replaced by."""

    __test__ = False

    text: str
    replacement: str
    named: bool
    """True if it is the name of something; its replacement is then another name of the same class, else a synonym."""


UntestedReason = Literal[
    "blank", "repeated", "not_in_text", "other_form", "not_contiguous", "nested", "crossing", "no_replacement"
]


class UntestedEntity(Wire):
    """An entity of the record that could not be replaced in the text."""

    text: str
    reason: UntestedReason
    """`blank`: no letter and no digit. `repeated`: the list has it before. `not_in_text`: nothing in the text may stand
    for it. `other_form`: something may, inflected or abbreviated, say. `not_contiguous`: its words stand apart.
    `nested`, `crossing`: it stands only within a longer entity of the list, or where one has a part of it.
    `no_replacement`: nothing is known that fits in its place."""


class AnswerGroup(Wire):
    """Equal answers to one question."""

    entities: tuple[str, ...] | None
    """The entities extracted; null if the answers could not be read."""
    count: int


class TransformedSentence(Wire):
    """R(v): the text with some entities replaced, and what the subject extracted from it."""

    vector: str
    """v: a digit for each tested entity, 1 if it is replaced."""
    text: str
    value: str | None
    """f(v): a digit for each tested entity, 0 if its replacement was extracted; the majority of the answers by the
    strict rule, by the lenient one the answer that decided. Null if it could not be read."""
    answers: tuple[AnswerGroup, ...]
    """All answers, the most frequent first."""


class LinearityTestRound(Wire):
    """One test: f(x xor y) = f(x) xnor f(y)."""

    outcome: Literal["passed", "failed", "unusable"]
    """`unusable`: the answers that would decide could not be read."""
    x: TransformedSentence
    y: TransformedSentence
    xor: TransformedSentence
    """R(x xor y)."""


class FailureCause(Wire):
    """Why an extraction is rejected; causes can overlap."""

    kind: Literal["weak", "merged", "split", "partial", "replacement_fault", "assumed_knowledge", "never_named",
                  "not_given", "wording"]  # fmt: skip
    """`weak`: the entity is extracted now and then. `merged`: in one with another entity. `split`: in several parts.
    `partial`: only a part of it, or with words around it. `replacement_fault`: its replacement mostly is not;
    `never_named`: never; `assumed_knowledge`: it is given where the text lacks it. `not_given`: most answers about the
    text as it is lack it; `wording`: those about a paraphrase do."""
    entity: str
    """The entity at fault, as the record has it; of `assumed_knowledge` what was extracted."""
    forms: tuple[str, ...] = ()
    """The text extracted in its place; or its replacement."""
    named: int = 0
    """In how many answers it, or its replacement, was extracted as it is."""
    answers: int = 0
    """Answers about a text in which it, or its replacement, stands."""


class EntityCount(Wire):
    """The number of times that something happened to an entity."""

    entity: str
    times: int
    answers: int
    """The number of answers in which it could have happened."""


class ExtractionEvidence(Wire):
    """The linearity test of an extraction (oracle-checker, section 3)."""

    type: Literal["extraction"] = "extraction"
    text: str
    """The text that was tested: the record's, or a paraphrase of it."""
    entities: tuple[TestedEntity, ...]
    untested: tuple[UntestedEntity, ...] = ()
    schedule: Literal["full", "fast"]
    """`fast`: the majority of the answers about a text counts. `full`: a test is passed if any combination is."""
    transformation: Literal["replace", "paraphrase"]
    """The way in which texts are transformed. `paraphrase`: entities are replaced in a paraphrase that keeps them."""
    tests: int
    """n, the number of tests that an extraction has to pass."""
    repeats: int
    """k, the number of answers about each text that a test may take."""
    seed: str
    """Seed of all draws."""
    rounds: tuple[LinearityTestRound, ...]
    """The tests that were made; with the schedule `fast` the first that fails ends them."""
    causes: tuple[FailureCause, ...] = ()
    """The causes of a rejection."""
    epsilon: float | None = None
    """The distance from linear that the verdict's `error_bound` is about; null without a bound."""
    ideal_share: Fraction | None
    """Share of the texts with f(v) = not v: all replacements were extracted where they stand, and nowhere else; null if
    no answer could be read, or none was needed."""
    unnamed: tuple[str, ...] = ()
    """Entities whose replacement was never extracted, although it stood in a text."""
    lost: tuple[EntityCount, ...] = ()
    """Entities that some answers lack though they stood there unreplaced."""
    extra: tuple[EntityCount, ...] = ()
    """Texts extracted next to the entities of the record and their replacements; the test does not see it."""
    answers: int
    """Answers that were taken."""
    a_test: int | None = None
    """A_test of the paper: how many tests were passed; null unless the schedule is `full`, as the next three are."""
    a_rate: Fraction | None = None
    """A_rate: the share of all combinations of answers that pass their test."""
    con_rs: int | None = None
    """Con_rs: of the transformed texts, the least number of answers that gave the most frequent list."""
    con_o: int | None = None
    """Con_o: the number of answers about the text itself that gave the most frequent list; null unless asked for."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
