"""Findings about every sentence against one reference, put together over its pieces and over samples."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from checkers.consistency.evaluator import Evaluation, Opinion
from checkers.consistency.pieces import Piece
from checkers.consistency.scoring import graded_score
from checkers.consistency.sentences import Sentence
from models.claims import SUPPORTED
from schemas import JudgedSentence, PieceFinding, SentenceFinding

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

    sentences: tuple[JudgedSentence, ...]
    is_consistent: bool
    """True if the judge's booleans, before AMC, were all true."""
    whole_marks: tuple[int, ...] = ()
    """Marks of opinions on the response as a whole, which are taken out of the score again."""
    overruled: int = 0
    asked_again: int = 0
    invented: int = 0
    misled: bool = False
    """True if the judge did not find a control sentence inconsistent."""
    unsure: tuple[bool, ...] = ()
    """True for each claim of which the judge leaves open whether it is consistent; empty for none."""

    @property
    def claims(self) -> tuple[SentenceFinding, ...]:
        """The sentences that claim something."""
        return _claims(self.sentences)

    @property
    def graded_score(self) -> float | None:
        """The score of the claims' supports; None where the judge did not grade them all."""
        supports = [found.support for found in self.claims if found.support is not None]
        return graded_score(supports) if len(supports) == len(self.claims) else None


def found_against(sentences: Sequence[Sentence], evaluation: Evaluation) -> Findings:
    """The findings against one piece of the reference."""
    each = [evaluation.opinions[number] for number in range(1, len(sentences) + 1)]
    opinions = [one for own in each for one in _claiming(own)]
    return Findings(
        tuple(map(_finding, sentences, each)),
        all(one.consistent != one.overruled for one in opinions),
        tuple(1 if one.consistent else -1 for one in evaluation.whole),
        sum(one.overruled for one in (*opinions, *evaluation.whole)),
        len(evaluation.again),
        evaluation.invented,
        evaluation.misled,
        tuple(any(one.unsure for one in own) for own in each if _claiming(own)),
    )


def over_pieces(pieces: Sequence[Piece], each: Sequence[Findings]) -> Findings:
    """One finding a sentence from those against all pieces of a reference: one piece that supports it is enough.

    The pieces that contradict it, rather than say nothing of it, stay in its evidence.
    """
    if len(each) == 1:
        return each[0]

    def merged(found: Sequence[JudgedSentence]) -> SentenceFinding:
        against = [
            (piece, one)
            for piece, one in zip(pieces, found, strict=True)
            if isinstance(one, SentenceFinding) and one.mark < 0 and not _SILENCE.search(one.reason)
        ]
        contradicted_by = tuple(
            PieceFinding(start=piece.start, end=piece.end, reason=one.reason, support=one.support)
            for piece, one in against
        )
        telling = _telling(_claims(found), [one for _, one in against])
        return telling.model_copy(update={"contradicted_by": contradicted_by})

    return _together(merged, each)


def over_samples(each: Sequence[Findings]) -> Findings:
    """Self-consistency: a sentence is consistent where the samples support it on average (method page, "Input").

    Its support is the mean over the samples; its reason and passage are those of the sample that supports it least
    or, where it is consistent, most.
    """

    def merged(found: Sequence[JudgedSentence]) -> SentenceFinding:
        versions = _claims(found)
        supports = [support_of(version) for version in versions]
        support = round(fmean(supports), 6)
        against = sum(version.mark < 0 for version in versions)
        telling = versions[supports.index(max(supports) if support >= SUPPORTED else min(supports))]
        update = {
            "mark": 1 if support >= SUPPORTED else -1,
            "support": support,
            "reason": f"{against} of {len(versions)} other samples do not support it. {telling.reason}",
            "converted": "samples",
        }
        return telling.model_copy(update=update)

    return _together(merged, each)


def _claims(sentences: Sequence[JudgedSentence]) -> tuple[SentenceFinding, ...]:
    return tuple(one for one in sentences if isinstance(one, SentenceFinding))


def _together(merged: Callable[[Sequence[JudgedSentence]], SentenceFinding], each: Sequence[Findings]) -> Findings:
    """One finding a sentence from those against several pieces or samples; none where all find no claim in it."""
    columns = list(zip(*(findings.sentences for findings in each), strict=True))
    sentences = tuple(merged(found) if _claims(found) else found[0] for found in columns)
    return Findings(
        sentences,
        all(one.mark > 0 for one in _claims(sentences)),
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
        return max(supporting, key=support_of)
    telling = min(contradicting or versions, key=support_of)
    supports = [one.support for one in versions if one.support is not None]
    return telling.model_copy(update={"support": max(supports) if len(supports) == len(versions) else None})


def _claiming(opinions: Sequence[Opinion]) -> list[Opinion]:
    return [one for one in opinions if one.consistent is not None]


def _finding(sentence: Sentence, opinions: Sequence[Opinion]) -> JudgedSentence:
    aspects = _claiming(opinions)
    if not aspects:
        return JudgedSentence(text=sentence.text, start=sentence.start, end=sentence.end, reason=opinions[0].reason)
    # One aspect at fault is enough; it is the one that is told.
    telling = min(aspects, key=lambda one: bool(one.consistent))
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


def support_of(found: SentenceFinding) -> float:
    """Its support, or its mark as 0 or 1 from a judge that does not grade."""
    return found.support if found.support is not None else (found.mark + 1) / 2
