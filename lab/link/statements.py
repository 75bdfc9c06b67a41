"""From complete beams to the statements of a corpus, and what separates head from tail (LINK, 2.2 and 3.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement
from lab.link.models import SearchModels
from lab.link.reranking import Reranker
from lab.link.rules.rule import Rule
from lab.link.rules.sentences import filled, forms_of, premise_of
from lab.link.search import Beam, Searched
from lab.link.threshold import START

_TRIED = 4
"""Beams with a wrong value that are looked at for each statement that is wanted of them."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class RuleStatements:
    """What became of a rule."""

    rule: str
    """Its name."""
    statements: tuple[Statement, ...]
    in_both: int
    """Statements that the search for the head and that for the tail both ended with; they are left out."""

    @property
    def delta(self) -> float | None:
        """Mean log-likelihood of the head less that of the tail, in nats a token; None if one of them is empty.

        Above 0.3 the two are well apart.
        """
        means = [self._likelihoods(one) for one in DISTRIBUTIONS]
        return fmean(means[0]) - fmean(means[1]) if all(means) else None

    def count(self, distribution: Distribution, *, correct: bool = True) -> int:
        """How many statements there are of this kind."""
        return sum(one.distribution == distribution and one.correct == correct for one in self.statements)

    def _likelihoods(self, distribution: Distribution) -> list[float]:
        return [
            one.log_likelihood
            for one in self.statements
            if one.distribution == distribution and one.correct and one.log_likelihood is not None
        ]


async def statements_of(
    rule: Rule, searched: Searched, models: SearchModels, reranker: Reranker, *, wrong_share: float
) -> RuleStatements:
    """The statements of the beams, head first, each kind followed by those that are wrong on purpose.

    A value of an intermediate variable is not told, so that several beams may say the same; they make one statement.
    """
    found = {one: _distinct(rule, searched.beams[one], one, correct=True) for one in DISTRIBUTIONS}
    shared = found["head"].keys() & found["tail"].keys()
    known = found["head"].keys() | found["tail"].keys()
    statements: list[Statement] = []
    for distribution, some in found.items():
        right = [statement for said, statement in some.items() if said not in shared]
        candidates = _distinct(rule, searched.wrong[distribution], distribution, correct=False)
        wanted = round(len(right) * wrong_share / (1 - wrong_share))
        wrong = [statement for said, statement in candidates.items() if said not in known]
        chosen = await _wrong(wrong, wanted, models, reranker, distribution)
        known |= {(one.premise, one.conclusion) for one in chosen}
        statements += [*right, *chosen]
    likelihoods = await models.log_likelihoods([spoken(one) for one in statements])
    scored = (
        one.model_copy(update={"log_likelihood": round(likelihood, _DIGITS)})
        for one, likelihood in zip(statements, likelihoods, strict=True)
    )
    return RuleStatements(rule.name, tuple(scored), len(shared))


def spoken(statement: Statement) -> str:
    """The statement as two sentences: what is scored."""
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in (statement.premise, statement.conclusion))


def _distinct(
    rule: Rule, beams: Iterable[Beam], distribution: Distribution, *, correct: bool
) -> Mapping[tuple[str, str], Statement]:
    forms = forms_of(rule)
    found: dict[tuple[str, str], Statement] = {}
    for beam in beams:
        said = premise_of(rule, beam), filled(forms.statement, beam)
        if said not in found:
            found[said] = Statement(
                rule=rule.text,
                domain=rule.domain,
                distribution=distribution,
                premise=said[0],
                conclusion=said[1],
                negation=filled(forms.negation, beam),
                question=filled(forms.question, beam),
                answer=forms.answer,
                correct=correct,
            )
    return found


async def _wrong(
    statements: Sequence[Statement],
    wanted: int,
    models: SearchModels,
    reranker: Reranker,
    distribution: Distribution,
) -> list[Statement]:
    """As many as are wanted of those that the critic finds wrong as a whole.

    A chain that is broken proves nothing: the conclusion may be reached by another one.
    """
    order = await reranker.order([spoken(one) for one in statements], distribution)
    tried = [statements[place] for place in order[: _TRIED * wanted]]
    probabilities = await models.probabilities([f"If {one.premise}, then {one.conclusion}." for one in tried])
    found = [one for one, probability in zip(tried, probabilities, strict=True) if probability <= 1 - START]
    return found[:wanted]
