"""The cost of a check of a paraphrase decision: docs/cost.md has the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkers.equivalence.equality import same_text
from checkers.equivalence.phrase_questions import PARAPHRASES
from checkers.estimate import Load, Range, load_of, range_of_calls, tokens_of, with_long_replies
from models.text.tokens import tokens
from schemas import Paraphrase

if TYPE_CHECKING:
    from checkers.equivalence.respondent import Respondent

_PAIRS_A_PROOF = 2
"""Phrase pairs that are asked about for a proof on average, rounded up, as few are once one is denied: 0.8 to 1.3 on
pairs of MSRP and 1.6 to 1.8 of PAWS-Wiki
(`python -m benchmarks.equivalence --only questions --pairs 100`)."""
_PROOFS_OF_PARAPHRASES = 1.5 * PARAPHRASES
"""Paraphrases of one side are aligned, in about half of all cases those of the other, too."""
_GRADED_GROUPS = 4
"""Groups of pairs that a judge that grades is given at most, a call each."""
_LONGER = 2
"""A paraphrase has at most so many times the words of its sentence."""
_PHRASE = 1 / 3
"""The share of a sentence that a phrase of it has, on average."""
_EXPLAINED = 30
"""Tokens of a yes or no with its explanation."""


def reckoned(respondent: Respondent, record: Paraphrase, *, tests: int) -> Range:
    """The questions to the model that answers, for a yes or a no."""
    first, second = record.sentence1, record.sentence2
    same = same_text(first, second)
    if respondent.grades:
        return Range() if same else range_of_calls(_PAIRS_A_PROOF, _GRADED_GROUPS)
    cut = [sentence[: round(len(sentence) * _PHRASE)] for sentence in (first, second)]
    about_part = load_of(respondent.questions(*cut)[0], _EXPLAINED)
    about_whole, test, _ = (load_of(question, _EXPLAINED) for question in respondent.questions(first, second))
    words = [len(tokens(sentence)) for sentence in (first, second)]
    pairs = 0 if same else _most_pairs(*words)
    expected, most = about_part * min(_PAIRS_A_PROOF, pairs), about_whole * pairs
    if not record.answer:
        paraphrases = _paraphrasing(respondent, first) + _paraphrasing(respondent, second)
        of_first, of_second = (_most_pairs(_LONGER * one, other) for one, other in (words, words[::-1]))
        aligned = PARAPHRASES * (of_first + of_second)
        expected += paraphrases + about_part * min(_PAIRS_A_PROOF * _PROOFS_OF_PARAPHRASES, aligned) + test * tests
        longer = load_of(respondent.questions(_LONGER * first, _LONGER * second)[0], _EXPLAINED)
        test = load_of(respondent.questions(_LONGER * first, _LONGER * second)[1], _EXPLAINED)
        most += paraphrases + longer * aligned + test * tests
    return Range(expected, with_long_replies(most))


def _most_pairs(words: int, others: int) -> int:
    """A phrase has two words at least and is not the whole: so many nodes a tree has at most, of either side."""
    return max(words - 2, 0) + max(others - 2, 0)


def _paraphrasing(respondent: Respondent, sentence: str) -> Load:
    question = respondent.questions(sentence, sentence)[2]
    return load_of(question, PARAPHRASES * (tokens_of(sentence) + 2) + 5)
