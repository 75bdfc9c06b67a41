"""Judges if a reference supports each of some sentences, or, for a paraphrase, says the same as they do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from checkers.oracle.claims import SUPPORTED, Judgement
from checkers.oracle.local.alignment import WordPath
from checkers.oracle.local.comparison.evidence import evidence
from checkers.oracle.local.comparison.sides import Pair, Side, joined, sentences_of, side_of
from checkers.oracle.local.decision import decisions
from checkers.oracle.local.encoded_text import Encoded, split
from checkers.oracle.local.encoded_text import joined as joined_text
from checkers.oracle.local.faults import ClaimFault
from checkers.oracle.local.reasons import reason_of
from checkers.oracle.local.recombined import recombined
from checkers.oracle.local.replies import Reply
from checkers.oracle.local.support import EQUIVALENCE_WEIGHTS, SUPPORT_WEIGHTS, both_ways, support_of

NO_WORDS = 0.02
"""Support of a sentence without words, or by a reference without any."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a sentence is decided by."""

    network: float
    standing: float
    """Log-odds: the network's, and those by how the sentence's words stand in the reference."""
    path: WordPath
    faults: tuple[ClaimFault, ...]


@dataclass(frozen=True)
class Response:
    """A response's sentences, and what they are held against."""

    task: str
    """`summary`, `answer` or `paraphrase`."""
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
        """What the network is to compare: each sentence that claims something, then the way back for a paraphrase."""
        return [*self._forward(), *self._back()]

    def judgements(self, odds: Sequence[float]) -> list[Judgement]:
        """A judgement of each sentence, from the log-odds of `pairs`."""
        given = iter(odds)
        forward = [next(given) if self._compares(index) else None for index in range(len(self.sentences))]
        back = list(given)
        return [self._judged(index, logit, back) for index, logit in enumerate(forward)]

    def read(self, index: int, forward: float, back: Sequence[float]) -> "Read | None":
        """What is known of a sentence, given the network's log-odds; None where there is nothing to compare."""
        claim, known, equivalent = self.sentences[index], self._prompt(index), self.task == "paraphrase"
        finding = support_of(claim, self.reference, known, EQUIVALENCE_WEIGHTS if equivalent else SUPPORT_WEIGHTS)
        if finding.path is None:
            return None
        if equivalent:
            standing = both_ways(finding.logit, self._standing_back)
            return Read(both_ways(forward, fmean(back)), standing, finding.path, finding.faults)
        apart = tuple(recombined(claim, self.reference, finding.path, known))
        return Read(forward, finding.logit, finding.path, finding.faults + apart)

    def _judged(self, index: int, forward: float | None, back: Sequence[float]) -> Judgement:
        if (known := self.fillers[index]) is not None:
            return known
        read = None if forward is None else self.read(index, forward, back)
        if read is None:
            missing = "there is nothing to compare" if self.reference.words else "the reference is empty"
            return Judgement(NO_WORDS, missing, None)
        support = decisions().of(self.task).support(read.network, read.standing, read.faults)
        claim, reply = self.sentences[index], self.replies[index]
        reason, passage = reason_of(claim, self.reference, read.path, read.faults, supported=support >= SUPPORTED)
        judgement = Judgement(support, reason, passage)
        return judgement if reply is None else reply.judgement(judgement, read.faults)

    @cached_property
    def _standing_back(self) -> float:
        """How well the candidate as a whole supports the reference, in the mean over the reference's sentences."""
        candidate = joined_text([sentence for sentence in self.sentences if sentence.words])
        return fmean(support_of(part, candidate, None, EQUIVALENCE_WEIGHTS).logit for part in split(self.reference))

    @cached_property
    def _reference(self) -> Side:
        return side_of(self.reference)

    def _prompt(self, index: int) -> Encoded | None:
        """The question, which supports nothing of a reply that stands for it."""
        return self.prompt if self.replies[index] is None else None

    def _compares(self, index: int) -> bool:
        return self.fillers[index] is None and bool(self.sentences[index].words) and bool(self.reference.words)

    def _forward(self) -> Iterator[Pair]:
        for index, sentence in enumerate(self.sentences):
            if self._compares(index):
                claim = side_of(sentence)
                found = evidence(claim, self._reference)
                # Words that answer a question are read behind it.
                prompt = self._prompt(index)
                yield claim, found if prompt is None else joined([side_of(prompt), found])

    def _back(self) -> Iterator[Pair]:
        written = [sentence for sentence in self.sentences if sentence.words]
        if self.task != "paraphrase" or not written or not self.reference.words:
            return
        candidate = joined([side_of(sentence) for sentence in written])
        for index in dict.fromkeys(self.reference.owners.tolist()):
            claim = sentences_of(self._reference, [index])
            yield claim, evidence(claim, candidate)
