"""Claims, and a grading judge's judgement of each."""

from dataclasses import dataclass

SUPPORTED = 0.5
"""A claim with this support or more counts as supported."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Sentences to be compared with a reference."""

    reference: str
    """The whole reference: an article, joined contexts, a true answer, or another sample."""
    sentences: tuple[str, ...]
    """The candidate's sentences, in order."""
    task: str
    """`summary`, `answer`, `paraphrase` (asks for the same meaning, so both ways may be looked at), `entailment`
    (strict text matching, one way: a single word that differs may decide), `answerability` (the sentences are
    questions: does `reference` hold the answer?) or `phrase` (whether each phrase could mean the same as the one in
    `reference`)."""
    prompt: str | None = None
    """The user's question, if known; for `phrase` the phrases' sentences, as `in_sentences` puts them."""


def in_sentences(first: str, second: str) -> str:
    """The sentences of two phrases as `Claims.prompt`: each on a line."""
    return "\n".join(" ".join(sentence.split()) for sentence in (first, second))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A grading judge's judgement of one claim."""

    support: float
    """0 to 1; the reference supports the claim from 0.5 on."""
    reason: str
    """One sentence for a person: what is wrong, or what supports the claim."""
    passage: str | None
    """The decisive passage of the reference, word for word; None if no passage is similar."""

    @property
    def supported(self) -> bool:
        return self.support >= SUPPORTED


Grades = tuple[tuple[Judgement, ...], ...]
"""For each of several claims a judgement of each of its sentences."""
