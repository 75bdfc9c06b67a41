"""Evidence of a check, from tests and answers."""

from collections.abc import Callable

from checkers.extraction.asking import Trial
from checkers.extraction.causes import causes_of
from checkers.extraction.extracted import Answers, Pairs, consistency, extra, groups, named
from checkers.extraction.linearity import Reading, Vector, passing_combinations
from checkers.extraction.mentions import Located
from checkers.extraction.schedule import Finding
from schemas import (
    AnswerGroup,
    ExtractionEvidence,
    FailureCause,
    LinearityTestRound,
    TransformedSentence,
)

_MOST_LISTED = 20
_MOST_SHOWN = 200


def digits(vector: Vector, entities: int) -> str:
    """A vector as a digit for each entity."""
    return "".join(str(vector >> j & 1) for j in range(entities))


def absent(located: Located) -> tuple[FailureCause, ...]:
    """A cause for each entity of the record that its text does not hold."""
    return tuple(
        FailureCause(kind="assumed_knowledge", entity=entity)
        for entity, reason in located.unreplaceable
        if reason == "not_in_text"
    )


def causes(finding: Finding, trial: Trial, pairs: Pairs, sentence: Callable[[Vector], str]) -> tuple[FailureCause, ...]:
    """The causes for which the tests reject; none if they do not."""
    if finding == "never_names":
        _, replaced = named(pairs, trial.answers)
        return tuple(FailureCause(kind="never_named", entity=one.entity, answers=one.answers) for one in replaced)
    if finding != "not_linear":
        return ()
    failed = next(one for one in trial.results if one.outcome == "failed")
    return causes_of(failed, pairs, {v: sentence(v) for v in failed.test.vectors}, trial.answers)


def rounds(trial: Trial, pairs: Pairs, sentence: Callable[[Vector], str]) -> tuple[LinearityTestRound, ...]:
    """The tests, with their texts and answers."""
    width = len(pairs.entities)

    def shown(v: Vector, u: Reading, answers: Answers) -> TransformedSentence:
        return TransformedSentence(
            vector=digits(v, width),
            text=sentence(v),
            value=None if u is None else digits(u, width),
            answers=tuple(
                AnswerGroup(entities=None if one is None else one[:_MOST_SHOWN], count=count)
                for one, count in groups(answers)
            ),
        )

    return tuple(
        LinearityTestRound(outcome=result.outcome, x=x, y=y, xor=xor)
        for result, answers in zip(trial.results, trial.rounds, strict=True)
        for x, y, xor in [map(shown, result.test.vectors, result.values, answers)]
    )


def unseen(trial: Trial, pairs: Pairs) -> dict[str, object]:
    """Faults that the test does not see: the evidence's `unnamed`, `lost` and `extra`."""
    unreplaced, replaced = named(pairs, trial.answers)
    lost = [one.model_copy(update={"times": one.answers - one.times}) for one in unreplaced if one.times < one.answers]
    return {
        "unnamed": tuple(one.entity for one in replaced if one.answers and not one.times),
        "lost": tuple(lost[:_MOST_LISTED]),
        "extra": tuple(extra(pairs, trial.answers)[:_MOST_LISTED]),
    }


def statistics(trial: Trial, pairs: Pairs) -> dict[str, object]:
    """A_test, A_rate and Con_rs of the full schedule (the paper's table 1)."""
    combinations = passing = 0
    for answers in trial.rounds:
        samples: list[list[Reading]] = [[pairs.read(one) for one in known] for known in answers]
        combinations += len(samples[0]) * len(samples[1]) * len(samples[2])
        passing += passing_combinations(samples, pairs.mask)
    return {
        "a_test": sum(one.outcome == "passed" for one in trial.results),
        "a_rate": passing / combinations,
        "con_rs": min(consistency(known) for answers in trial.rounds for known in answers),
    }


def reason_of(evidence: ExtractionEvidence, *, accepted: bool, error_bound: float | None) -> str:
    """The verdict in a sentence."""
    if not accepted:
        told = "; ".join(dict.fromkeys(cause_in_words(one) for one in evidence.causes[:3]))
        return f"The extraction is not to be trusted: {told or 'it is not linear'}."
    entities = "its entity" if len(evidence.entities) == 1 else f"{len(evidence.entities)} entities"
    passed = "the test" if evidence.tests == 1 else f"all {evidence.tests} tests"
    bound = ""
    if error_bound is not None:
        bound = (
            f"; one that is {evidence.epsilon:g}-far from linear passes with a probability of at most {error_bound:.3f}"
        )
    left_out = f" ({len(evidence.untested)} could not be tested)" if evidence.untested else ""
    return f"The extraction of {entities}{left_out} passed {passed} of linearity{bound}."


def cause_in_words(cause: FailureCause) -> str:
    """A cause for a person."""
    forms = " and ".join(f"“{form}”" for form in cause.forms)
    entity = f"“{cause.entity}”"
    share = f"{cause.named} of {cause.answers}"
    return {
        "weak": f"{entity} is weak, its replacement extracted in {share} answers",
        "merged": f"{entity} is extracted in one with another, as {forms}",
        "split": f"{entity} is extracted in parts, as {forms}",
        "partial": f"{entity} is extracted in another form, as {forms}",
        "replacement_fault": f"{forms}, which replaces {entity}, is extracted in {share} answers only",
        "assumed_knowledge": f"{entity} is not in the text",
        "never_named": f"what replaces {entity} is never extracted, nor is any other replacement",
    }[cause.kind]
