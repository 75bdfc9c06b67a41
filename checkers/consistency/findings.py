"""Findings about every sentence against one reference, put together over its pieces and over samples."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from checkers.consistency.evaluator import Evaluation, Opinion
from checkers.consistency.pieces import Piece
from checkers.consistency.scoring import graded_score
from checkers.consistency.sentences import Sentence
from schemas import PieceFinding, SentenceFinding

_SILENCE = re.compile(
    r"(?i)^(?!.*\b(?:but|instead|rather|while|whereas|however)\b|.*;)"
    r".*(?:\b(?:no|not|nothing|never|nowhere)\b|n[’']t\b)(?:\W+\w+){0,4}?\W+"
    r"(?:mention|stat|sa[iy]|giv|told|tell|cover|found|contain|includ|appear|report|there\b)"
)
"""A reason that finds nothing about a sentence, rather than something else. It decides nothing: of the pieces that do
not support a sentence those are shown that speak of it."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences with their marks, and the marks of the response as a whole."""

    sentences: tuple[SentenceFinding, ...]
    is_consistent: bool
    """True if the judge's booleans, before AMC, were all true."""
    whole_marks: tuple[int, ...] = ()
    """Marks of opinions on the response as a whole; `alpha` and `beta` take them out of the score again."""
    overruled: int = 0
    asked_again: int = 0
    invented: int = 0
    misled: bool = False
    """True if the judge found a control sentence consistent."""
    unsure: tuple[bool, ...] = ()
    """True for each sentence of which the judge leaves open whether it is consistent; empty for none."""

    @property
    def alpha(self) -> int:
        """Minus the sum of the marks that do not judge a sentence (paper, appendix A.4)."""
        return -sum(self.whole_marks)

    @property
    def beta(self) -> int:
        """Minus the number of the marks that do not judge a sentence."""
        return -len(self.whole_marks)

    @property
    def mean_support(self) -> float:
        """Mean over the sentences of their support, or of their marks as 0 and 1 from a judge that does not grade."""
        return round(fmean(_support(found) for found in self.sentences), 6)

    @property
    def graded_score(self) -> float | None:
        """The score of the sentences' supports; None where the judge did not grade them all."""
        supports = [found.support for found in self.sentences if found.support is not None]
        return graded_score(supports) if len(supports) == len(self.sentences) else None


def found_against(sentences: Sequence[Sentence], evaluation: Evaluation) -> Findings:
    """The findings against one piece of the reference."""
    opinions = [one for each in (*evaluation.opinions, evaluation.whole) for one in each]
    return Findings(
        tuple(_finding(sentence, own) for sentence, own in zip(sentences, evaluation.opinions, strict=True) if own),
        all(one.consistent != one.overruled for each in evaluation.opinions for one in each),
        tuple(1 if one.consistent else -1 for one in evaluation.whole),
        sum(one.overruled for one in opinions),
        evaluation.asked_again,
        evaluation.invented,
        evaluation.misled,
        tuple(any(one.unsure for one in own) for own in evaluation.opinions if own),
    )


def over_pieces(pieces: Sequence[Piece], each: Sequence[Findings]) -> Findings:
    """One finding a sentence from those against all pieces of a reference: one piece that supports it is enough.

    The pieces that contradict it, rather than say nothing of it, stay in its evidence.
    """
    if len(each) == 1:
        return each[0]
    sentences = []
    for versions in zip(*(findings.sentences for findings in each), strict=True):
        against = [
            (piece, one)
            for piece, one in zip(pieces, versions, strict=True)
            if one.mark < 0 and not _SILENCE.search(one.reason)
        ]
        telling = _telling(versions, [one for _, one in against])
        contradicted_by = tuple(
            PieceFinding(start=piece.start, end=piece.end, reason=one.reason, support=one.support)
            for piece, one in against
        )
        sentences.append(telling.model_copy(update={"contradicted_by": contradicted_by}))
    return _together(sentences, each)


def over_samples(each: Sequence[Findings]) -> Findings:
    """Self-consistency: a sentence is consistent where the samples support it on average (method page, "Input").

    Its support is the mean over the samples; its reason and passage are those of the sample that supports it least
    or, where it is consistent, most.
    """
    found = []
    for versions in zip(*(findings.sentences for findings in each), strict=True):
        supports = [_support(version) for version in versions]
        support = round(fmean(supports), 6)
        against = sum(version.mark < 0 for version in versions)
        consistent = support >= 0.5
        telling = versions[supports.index(max(supports) if consistent else min(supports))]
        found.append(
            telling.model_copy(
                update={
                    "mark": 1 if consistent else -1,
                    "support": support,
                    "reason": f"{against} of {len(versions)} other samples do not support it. {telling.reason}",
                    "converted": "samples",
                }
            )
        )
    return _together(found, each)


def _together(sentences: Sequence[SentenceFinding], each: Sequence[Findings]) -> Findings:
    """Findings about `sentences` that were made of those against several pieces or samples."""
    return Findings(
        tuple(sentences),
        all(one.mark > 0 for one in sentences),
        (),
        sum(findings.overruled for findings in each),
        sum(findings.asked_again for findings in each),
        sum(findings.invented for findings in each),
        any(findings.misled for findings in each),
    )


def _telling(versions: Sequence[SentenceFinding], contradicting: Sequence[SentenceFinding]) -> SentenceFinding:
    """The finding against the piece that supports a sentence best; else the strongest contradiction."""
    supporting = [one for one in versions if one.mark > 0]
    if supporting:
        return max(supporting, key=_support)
    telling = min(contradicting or versions, key=_support)
    supports = [one.support for one in versions if one.support is not None]
    return telling.model_copy(update={"support": max(supports) if len(supports) == len(versions) else None})


def _finding(sentence: Sentence, aspects: Sequence[Opinion]) -> SentenceFinding:
    # One aspect at fault is enough; it is the one that is told.
    telling = min(aspects, key=lambda one: one.consistent)
    supports = [one.support for one in aspects if one.support is not None]
    return SentenceFinding(
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        mark=1 if telling.consistent else -1,
        support=min(supports) if len(supports) == len(aspects) else None,
        reason=telling.reason,
        passage=telling.passage,
        converted=telling.told_by,
    )


def _support(found: SentenceFinding) -> float:
    return found.support if found.support is not None else (found.mark + 1) / 2
