"""Evidence about a decision whether two sentences mean the same: alignments, and the test of trust in a no."""

from typing import Literal

from pydantic import Field

from schemas.base import Wire


class AlignedPhrases(Wire):
    """A phrase of either sentence, matched with each other."""

    first: str
    """Of the first sentence."""
    second: str
    first_span: tuple[int, int]
    """Offsets in the first sentence, in code points: where the phrase begins, and where it has ended."""
    second_span: tuple[int, int]
    similarity: float
    """Cosine of the two phrases, each in its sentence."""
    confirmed: bool | None = None
    """Whether whoever was asked says that they could mean the same; null where nobody needed to be."""
    explanation: str = ""
    """Of that answer."""


class UncoveredWord(Wire):
    """A word that lies in no matched phrase."""

    text: str
    start: int
    """Offset in its sentence, in code points."""
    end: int


class PhraseAlignment(Wire):
    """One of the four alignments of two sentences, found or not."""

    name: Literal["1>2", "1>2*", "2>1", "2>1*"]
    source: Literal[1, 2]
    """The sentence whose phrases were looked up in the other."""
    covers: Literal[1, 2]
    """The sentence whose words must lie in matched phrases; not the source in the starred ones."""
    outcome: Literal["found", "uncovered", "denied", "not_asked"]
    """`uncovered`: words are left over. `denied`: a pair was. `not_asked`: covered, but others had decided already."""
    pairs: tuple[AlignedPhrases, ...]
    uncovered: tuple[UncoveredWord, ...]
    """Of the sentence to be covered, prepositions that stand alone left out."""


class EquivalenceProof(Wire):
    """Phi: an alignment of two sentences was looked for."""

    found: bool
    require: Literal["or", "and"]
    """`or`: one alignment of the four is enough. `and`: it takes one in either direction."""
    alignments: tuple[PhraseAlignment, ...]


class ParaphraseCandidate(Wire):
    """One of the subject's own paraphrases."""

    text: str
    made_from: Literal[1, 2]
    indifferentiable: bool | None = None
    """Whether it aligns with the sentence that it was not made from as well; null where nobody looked."""


class EquivalenceTestRound(Wire):
    """Whether a paraphrase is equivalent to the sentence that it was not made from, as the subject says."""

    paraphrase: ParaphraseCandidate
    answer: bool
    explanation: str


class TriangularEvidence(Wire):
    """The first sentence is not equivalent to the second, says the subject, but the paraphrase is to both."""

    first: str
    second: str
    paraphrase: str


class EquivalenceTest(Wire):
    """The test of trust in a no."""

    category: Literal["AI", "I", "A", "none"]
    """A: the two sentences align. I: an indifferentiable paraphrase was found."""
    tests: int
    """How many there are to pass."""
    rounds: tuple[EquivalenceTestRound, ...]
    """Those that were asked: the first yes is the last."""
    paraphrases: tuple[ParaphraseCandidate, ...]
    triangle: TriangularEvidence | None
    """Why the no is rejected; null where it is accepted."""
    seed: str
    """What all draws were made of."""
    unseen: str = "A subject that always says no passes this test always."


class EquivalenceEvidence(Wire):
    """The oracle-checker scheme for paraphrase decisions: a proof for yes, a test of trust for no."""

    type: Literal["equivalence"] = "equivalence"
    sentence1: str
    sentence2: str
    answer: bool
    """The subject's, which is accepted or rejected; a rejected one is not turned into the other."""
    proof: EquivalenceProof
    """That accepts or rejects a yes; of a no it tells only the test's category."""
    test: EquivalenceTest | None = None
    """Of a no."""
    asked: Literal["subject", "judge"]
    """Who answered the questions."""
    parser: str
    """Whose trees they are."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
