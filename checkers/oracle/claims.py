"""What is claimed, against what, and what a grading judge says of it."""

from dataclasses import dataclass

SUPPORTED = 0.5
"""From this support on a claim counts as supported."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Sentences to be held against a reference."""

    reference: str
    """The whole reference: an article, joined contexts, a true answer, or another sample."""
    sentences: tuple[str, ...]
    """The candidate's sentences, in order, as our own splitting made them."""
    task: str
    """`summary`, `answer`, `paraphrase` (asks for the same meaning, so both ways may be looked at), `entailment`
    (strict text matching, one way: a single word that differs may decide) or `phrase` (whether each phrase could mean
    the same as the one in `reference`)."""
    prompt: str | None = None
    """The user's question, where it is known; for `phrase` what `in_sentences` makes of the sentences around."""


def in_sentences(first: str, second: str) -> str:
    """The sentences that the phrases of two texts stand in, as `Claims.prompt`: each on a line."""
    return "\n".join(" ".join(sentence.split()) for sentence in (first, second))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a grading judge says about one claim."""

    support: float
    """0 to 1; from 0.5 on the reference supports the claim."""
    reason: str
    """One plain sentence for a person: what is wrong, or what supports it."""
    passage: str | None
    """The passage of the reference that decided, word for word; None where none comes near."""

    @property
    def supported(self) -> bool:
        """Whether the reference supports the claim."""
        return self.support >= SUPPORTED


Grades = tuple[tuple[Judgement, ...], ...]
"""Of several claims: for each a grade for each of its sentences."""
