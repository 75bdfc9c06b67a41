"""Evidence about a decision whether two sentences mean the same: alignments, and the test of a no."""

from typing import Literal

from pydantic import Field

from schemas.base import Wire


class AlignedPhrases(Wire):
    """A phrase of each sentence, matched with each other."""

    first: str
    """Phrase of the first sentence."""
    second: str
    """Phrase of the second sentence."""
    first_span: tuple[int, int]
    """Start and end of the phrase in the first sentence, in code points; the end is exclusive."""
    second_span: tuple[int, int]
    """Start and end of the phrase in the second sentence."""
    similarity: float
    """Cosine of the two phrases, each in the context of its sentence."""
    confirmed: bool | None = None
    """True if the respondent confirmed that the phrases could mean the same; null if it was not asked."""
    explanation: str = ""
    """The respondent's reason; empty if it was not asked."""


class UncoveredWord(Wire):
    """A word that lies in no matched phrase."""

    text: str
    start: int
    """Offset in the sentence, in code points."""
    end: int


class PhraseAlignment(Wire):
    """One of the four alignments of two sentences, found or not."""

    name: Literal["1>2", "1>2*", "2>1", "2>1*"]
    source: Literal[1, 2]
    """The sentence whose phrases were looked up in the other."""
    covers: Literal[1, 2]
    """The sentence whose words must lie in matched phrases: the source, or in a starred alignment the other."""
    outcome: Literal["found", "uncovered", "denied", "not_asked"]
    """`uncovered`: words are left over. `denied`: the respondent denied a pair. `not_asked`: all words are covered, but
    other alignments had already decided."""
    pairs: tuple[AlignedPhrases, ...]
    uncovered: tuple[UncoveredWord, ...]
    """Words left over; a preposition that stands alone needs no cover."""


class EquivalenceProof(Wire):
    """The alignments of two sentences, and whether they amount to a proof."""

    found: bool
    """True if the alignments that `require` asks for were found."""
    require: Literal["or", "and"]
    """`or`: one of the four alignments is enough. `and`: at least one in each direction."""
    alignments: tuple[PhraseAlignment, ...]


class ParaphraseCandidate(Wire):
    """One of the subject's own paraphrases."""

    text: str
    made_from: Literal[1, 2]
    """The sentence that it paraphrases."""
    indifferentiable: bool | None = None
    """True if it aligns with the other sentence as well; null if that was not checked."""


class EquivalenceTestRound(Wire):
    """One question of the test: whether a paraphrase is equivalent to the sentence that it was not made from."""

    paraphrase: ParaphraseCandidate
    answer: bool
    """The subject's answer; true is a yes, and contradicts its no."""
    explanation: str
    """The subject's reason."""


class TriangularEvidence(Wire):
    """A contradiction: the subject calls the sentences different, and the paraphrase equivalent to both."""

    first: str
    second: str
    paraphrase: str


class EquivalenceTest(Wire):
    """The test of a no."""

    category: Literal["AI", "I", "A", "none"]
    """A: the two sentences align. I: an indifferentiable paraphrase was found."""
    tests: int
    """Number of tests that the no has to pass."""
    rounds: tuple[EquivalenceTestRound, ...]
    """The tests that were made; the first yes ends them."""
    paraphrases: tuple[ParaphraseCandidate, ...]
    """All paraphrases, those of the first sentence first."""
    unusable: int = 0
    """Paraphrases that were asked for and left out: empty, the sentence itself, the same as another, or no answer."""
    triangle: TriangularEvidence | None
    """The contradiction that rejects the no; null if the no is accepted."""
    seed: str
    """Seed of all draws."""
    unseen: str = "A subject that always says no passes this test always."
    """The limits of the test."""


class EquivalenceEvidence(Wire):
    """The oracle-checker scheme for paraphrase decisions: a proof for yes, a test for no."""

    type: Literal["equivalence"] = "equivalence"
    sentence1: str
    sentence2: str
    answer: bool
    """The subject's answer, which is accepted or rejected. A rejected answer is not turned into the other."""
    proof: EquivalenceProof
    """Decides about a yes. For a no it only gives the category of the test."""
    test: EquivalenceTest | None = None
    """Decides about a no; null for a yes."""
    asked: Literal["subject", "judge"]
    """The respondent: the model that answered the questions."""
    parser: str
    """Name and version of the parser that made the trees."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    """Digests of the prompt templates, by name."""
