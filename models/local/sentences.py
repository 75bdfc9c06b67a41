"""Judges if a reference supports each of some sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from models.claims import SUPPORTED, Judgement
from models.local.alignment import WordPath
from models.local.comparison.evidence import evidence
from models.local.comparison.sides import Pair, joined, side_of
from models.local.decision import decision
from models.local.encoded_text import Encoded
from models.local.faults import ClaimFault
from models.local.reasons import nothing_to_compare, reason_of
from models.local.recombined import recombined
from models.local.replies import Reply
from models.local.support import SUPPORT_WEIGHTS, support_of


@dataclass(frozen=True, slots=True)
class Standing:
    """How a sentence's words stand in the reference."""

    logit: float
    path: WordPath
    faults: tuple[ClaimFault, ...]


@dataclass(frozen=True)
class Response:
    """A response's sentences, and what they are held against."""

    sentences: Sequence[Encoded]
    """Of a bare reply the question."""
    replies: Sequence[Reply | None]
    """Which sentences are no more than yes or no."""
    fillers: Sequence[Judgement | None]
    """The judgements of sentences that claim nothing."""
    reference: Encoded
    prompt: Encoded | None
    """The question, whose words an answer may repeat."""

    @cached_property
    def pairs(self) -> list[Pair]:
        """What the network is to compare: each sentence that claims something, and its evidence."""
        return list(self._pairs())

    def judgements(self, odds: Sequence[float]) -> list[Judgement]:
        """A judgement of each sentence, from the log-odds of `pairs`."""
        given = iter(odds)
        return [
            self._judged(index, next(given)) if self._compares(index) else self._uncompared(index)
            for index in range(len(self.sentences))
        ]

    def standing(self, index: int) -> Standing | None:
        """How a sentence stands; None where there is nothing to compare."""
        claim, known = self.sentences[index], self._prompt(index)
        finding = support_of(claim, self.reference, known, SUPPORT_WEIGHTS)
        if finding.path is None:
            return None
        apart = tuple(recombined(claim, self.reference, finding.path, known))
        return Standing(finding.logit, finding.path, finding.faults + apart)

    def _judged(self, index: int, network: float) -> Judgement:
        standing = self.standing(index)
        if standing is None:
            return nothing_to_compare(self.reference)
        support = decision().support(network, standing.logit, standing.faults)
        claim, reply = self.sentences[index], self.replies[index]
        supported = support >= SUPPORTED
        reason, passage = reason_of(claim, self.reference, standing.path, standing.faults, supported=supported)
        judgement = Judgement(support, reason, passage)
        return judgement if reply is None else reply.judgement(judgement, standing.faults)

    def _uncompared(self, index: int) -> Judgement:
        return self.fillers[index] or nothing_to_compare(self.reference)

    def _prompt(self, index: int) -> Encoded | None:
        """The question, which supports nothing of a reply that stands for it."""
        return self.prompt if self.replies[index] is None else None

    def _compares(self, index: int) -> bool:
        return self.fillers[index] is None and bool(self.sentences[index].words) and bool(self.reference.words)

    def _pairs(self) -> Iterator[Pair]:
        reference = side_of(self.reference)
        for index, sentence in enumerate(self.sentences):
            if self._compares(index):
                claim = side_of(sentence)
                found = evidence(claim, reference)
                # Words that answer a question are read behind it.
                prompt = self._prompt(index)
                yield claim, found if prompt is None else joined([side_of(prompt), found])
