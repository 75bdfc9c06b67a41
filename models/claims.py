"""Claims, and a grading judge's judgement of each."""

from dataclasses import dataclass
from enum import StrEnum

SUPPORTED = 0.5
"""A claim with this support or more counts as supported."""


class ClaimKind(StrEnum):
    """The relation that sentences should have to their reference."""

    SUMMARY = "summary"
    """They say in fewer words what the reference says."""
    ANSWER = "answer"
    """They answer `Claims.prompt` by what the reference says."""
    PARAPHRASE = "paraphrase"
    """Together they mean the same as the reference, so both ways may be looked at."""
    ENTAILMENT = "entailment"
    """Each follows from the reference. Strict, and one way: a single word that differs may decide."""
    MATCH = "match"
    """As entailment, of two texts of which a store or cache takes one for the other."""
    ANSWERABILITY = "answerability"
    """Each is a question, and the reference holds its answer."""
    PHRASE = "phrase"
    """Each is a phrase that could mean the same as the reference, a phrase too."""
    CRITERION = "criterion"
    """Each is a criterion in plain words, which the reference meets."""
    COMPATIBLE = "compatible"
    """Each may be true if the reference is: it contradicts nothing there, and need not be said there."""
    STATEMENT = "statement"
    """Each is true of the world; there is no reference."""
    QUESTION = "question"
    """Each is a yes-or-no question about the whole text; a yes supports it. The reference may be empty."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Sentences to be compared with a reference."""

    reference: str
    """The whole reference: an article, joined contexts, a true answer, another sample, or a phrase."""
    sentences: tuple[str, ...]
    """The candidate's sentences, in order."""
    kind: ClaimKind
    prompt: str | None = None
    """The user's question, if it is known."""
    text: str | None = None
    """The candidate as it is, where its sentences do not show its form (lines, a table, code)."""
    around: tuple[str, str] | None = None
    """The sentences that phrases are part of, the reference's first, if they are known."""
    examples: tuple[tuple["Claims", bool], ...] = ()
    """Of the kind `question`: other texts, and whether a yes is the right reply to the same question about them."""

    def __post_init__(self) -> None:
        # Checkers of other packages give the kind's value.
        object.__setattr__(self, "kind", ClaimKind(self.kind))

    @property
    def whole(self) -> str:
        """The candidate's text."""
        return " ".join(self.sentences) if self.text is None else self.text


@dataclass(frozen=True, slots=True)
class Judgement:
    """A grading judge's judgement of one claim."""

    support: float
    """0 to 1; the reference supports the claim from 0.5 on."""
    reason: str
    """One sentence for a person: what is wrong, or what supports the claim."""
    passage: str | None
    """The decisive passage of the reference, word for word; None if no passage is similar."""
    claims_nothing: bool = False
    """A greeting, a question, a refusal: it counts for nothing."""
    unsure: bool = False
    """The support lies between the judge's own thresholds: it is not good enough to decide by."""
    misled: bool = False
    """The judge called sentences supported, too, that are false for certain: it goes by something else."""

    @property
    def supported(self) -> bool:
        return self.support >= SUPPORTED


NO_CLAIM = Judgement(SUPPORTED, "it claims nothing", None, claims_nothing=True)
"""The grade of a sentence that is compared with nothing."""

Grades = tuple[tuple[Judgement, ...], ...]
"""For each of several claims a judgement of each of its sentences."""
