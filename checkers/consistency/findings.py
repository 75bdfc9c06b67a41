"""What was found about every sentence against one reference, and how several references are put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from checkers.consistency.converter import Mark
from checkers.consistency.evaluator import Evaluation
from checkers.consistency.scoring import graded_score
from checkers.consistency.sentences import Sentence
from schemas import SentenceFinding

_Converted = Literal["opening", "asked", "graded", "flag", "samples"]


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences with their marks, and what counts for the response as a whole."""

    sentences: tuple[SentenceFinding, ...]
    is_consistent: bool
    whole_marks: tuple[int, ...] = ()
    """Marks of reasons about the response as a whole; `alpha` and `beta` take them out of the score again."""
    calls_saved: int = 0
    asked_again: int = 0
    invented: int = 0

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

    @classmethod
    def by_grade(cls, sentences: Sequence[Sentence], evaluation: Evaluation) -> "Findings":
        """From a judge that grades: the sign of its grade is the mark, no conversion is asked for."""
        return cls._of(sentences, evaluation, [1 if entry.flag else -1 for entry in evaluation.entries], "graded")

    @classmethod
    def by_flag(cls, sentences: Sequence[Sentence], evaluation: Evaluation) -> "Findings":
        """DCE alone: every sentence has the flag of the answer that judged it."""
        return cls._of(sentences, evaluation, [1 if entry.flag else -1 for entry in evaluation.entries], "flag")

    @classmethod
    def by_marks(cls, sentences: Sequence[Sentence], evaluation: Evaluation, marks: Sequence[Mark]) -> "Findings":
        """From AMC: a mark a reason, those of the sentences first; one negative reason makes a sentence negative."""
        found = []
        position = 0
        for sentence, entry in zip(sentences, evaluation.entries, strict=True):
            own = marks[position : position + len(entry.reasons)]
            position += len(own)
            lowest = min(range(len(own)), key=lambda place: own[place].value)
            found.append(_finding(sentence, own[lowest].value, entry.reasons[lowest], own[lowest].converted))
        return cls(
            tuple(found),
            evaluation.is_consistent,
            whole_marks=tuple(mark.value for mark in marks[position:]),
            # AMC is one call a response: it is saved where not a single reason needed it.
            calls_saved=int(all(mark.converted == "opening" for mark in marks)),
            asked_again=evaluation.asked_again,
            invented=evaluation.invented,
        )

    @classmethod
    def _of(
        cls, sentences: Sequence[Sentence], evaluation: Evaluation, marks: Sequence[Literal[-1, 1]], how: _Converted
    ) -> "Findings":
        found = []
        for sentence, entry, mark in zip(sentences, evaluation.entries, marks, strict=True):
            one = _finding(sentence, mark, entry.reasons[0], how)
            if entry.grade is not None:
                one = one.model_copy(update={"support": entry.grade.support, "passage": entry.grade.passage})
            found.append(one)
        return cls(
            tuple(found),
            evaluation.is_consistent,
            asked_again=evaluation.asked_again,
            invented=evaluation.invented,
        )


def combined(each: Sequence[Findings]) -> Findings:
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
    return Findings(tuple(found), all(one.mark > 0 for one in found))


def _finding(sentence: Sentence, mark: Literal[-1, 1], reason: str, how: _Converted) -> SentenceFinding:
    return SentenceFinding(
        text=sentence.text, start=sentence.start, end=sentence.end, mark=mark, reason=reason, converted=how
    )


def _support(found: SentenceFinding) -> float:
    return found.support if found.support is not None else (found.mark + 1) / 2
