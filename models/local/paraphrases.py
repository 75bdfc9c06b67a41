"""Judges if sentences say the same as a reference: by how the words of each stand in the other.

The weights are set by hand, as those of phrases are: hardly any of the labelled pairs that the judge of claims learned
from were made as paraphrases, and what it learned ranks people's paraphrases worse.
"""

from collections.abc import Sequence
from statistics import fmean

from models.claims import SUPPORTED, Judgement
from models.local.encoded_text import Encoded, joined, split
from models.local.reasons import nothing_to_compare, reason_of
from models.local.support import EQUIVALENCE_WEIGHTS, NOTHING_FOUND, both_ways, graded, support_of


def judge_paraphrase(
    sentences: Sequence[Encoded], fillers: Sequence[Judgement | None], reference: Encoded
) -> list[Judgement]:
    """A judgement of each sentence; `fillers` are those of sentences that claim nothing."""
    back = _standing_back(sentences, reference)
    return [known or _judged(sentence, reference, back) for sentence, known in zip(sentences, fillers, strict=True)]


def _judged(sentence: Encoded, reference: Encoded, back: float) -> Judgement:
    finding = support_of(sentence, reference, None, EQUIVALENCE_WEIGHTS)
    if finding.path is None:
        return nothing_to_compare(reference)
    support = graded(both_ways(finding.logit, back), EQUIVALENCE_WEIGHTS)
    reason, passage = reason_of(sentence, reference, finding.path, finding.faults, supported=support >= SUPPORTED)
    return Judgement(support, reason, passage)


def _standing_back(sentences: Sequence[Encoded], reference: Encoded) -> float:
    """How well the candidate as a whole supports the reference, in the mean over the reference's sentences."""
    written = [sentence for sentence in sentences if sentence.words]
    parts = split(reference)
    if not (written and parts):
        return NOTHING_FOUND
    candidate = joined(written)
    return fmean(support_of(part, candidate, None, EQUIVALENCE_WEIGHTS).logit for part in parts)
