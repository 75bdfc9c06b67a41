"""Evidence of a check, from tests and answers."""

from collections.abc import Callable, Sequence
from typing import Literal

from checkers.extraction.asking import Trial
from checkers.extraction.causes import causes_of
from checkers.extraction.extracted import Answers, Pairs, consistency, extra, groups, missing, named
from checkers.extraction.linearity import Reading, Rule, Vector, ideal_share, majority, passing_combinations, strays
from checkers.extraction.mentions import Located
from schemas import AnswerGroup, ExtractionEvidence, FailureCause, LinearityTestRound, TransformedSentence

_MOST_LISTED = 20
_MOST_SHOWN = 200


def absent(located: Located) -> tuple[FailureCause, ...]:
    """A cause for each entity of the record that its text does not hold."""
    away = (entity for entity, reason in located.unreplaceable if reason == "not_in_text")
    return tuple(FailureCause(kind="assumed_knowledge", entity=entity) for entity in away)


def not_given(
    kind: Literal["not_given", "wording"], entities: Sequence[str], found: Answers
) -> tuple[FailureCause, ...]:
    """A cause for each entity that most answers about a text as it is lack."""
    readings = [u for u in (missing(entities, one) for one in found) if u is not None]
    lost = majority(readings) or 0
    return tuple(
        FailureCause(kind=kind, entity=one, named=sum(not u >> j & 1 for u in readings), answers=len(readings))
        for j, one in enumerate(entities)
        if lost >> j & 1
    )


def causes(trial: Trial, pairs: Pairs, sentence: Callable[[Vector], str], rule: Rule) -> tuple[FailureCause, ...]:
    """The causes for which the tests reject; none if they do not.

    What stands in an entity's place must be named in each text, by the rule lenient in half of all answers.
    """
    failed = [one for one in trial.results if one.outcome == "failed"][:1]
    lost = strays(failed or trial.results, pairs.mask)
    if rule == "lenient" and not failed:
        seldom = ((j, 2 * of.times < of.answers) for one in named(pairs, trial.answers) for j, of in enumerate(one))
        lost = sum({1 << j for j, is_seldom in seldom if is_seldom})
    vectors = [v for one in failed or trial.results for v in one.test.vectors]
    return causes_of(lost, pairs, {v: sentence(v) for v in vectors}, trial.answers) if lost else ()


def shown(trial: Trial, pairs: Pairs, sentence: Callable[[Vector], str]) -> dict[str, object]:
    """The evidence's tests, with their texts and answers, and what the vectors do not show."""

    def digits(vector: Vector) -> str:
        return "".join(str(vector >> j & 1) for j in range(len(pairs.entities)))

    def text(v: Vector, u: Reading, answers: Answers) -> TransformedSentence:
        return TransformedSentence(
            vector=digits(v),
            text=sentence(v),
            value=None if u is None else digits(u),
            answers=tuple(
                AnswerGroup(entities=None if one is None else one[:_MOST_SHOWN], count=count)
                for one, count in groups(answers)
            ),
        )

    unreplaced, replaced = named(pairs, trial.answers)
    lost = [one.model_copy(update={"times": one.answers - one.times}) for one in unreplaced if one.times < one.answers]
    return {
        "rounds": tuple(
            LinearityTestRound(outcome=result.outcome, x=x, y=y, xor=xor)
            for result, answers in zip(trial.results, trial.rounds, strict=True)
            for x, y, xor in [map(text, result.test.vectors, result.values, answers)]
        ),
        "ideal_share": ideal_share(trial.results, pairs.mask),
        "answers": sum(map(len, trial.answers.values())),
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


def reason_of(evidence: ExtractionEvidence, error_bound: float | None) -> str:
    """The verdict in a sentence."""
    if evidence.causes:
        told = "; ".join(dict.fromkeys(map(cause_in_words, evidence.causes[:3])))
        return f"The extraction is not to be trusted: {told}."
    count = len(evidence.entities)
    texts = len({text.vector for one in evidence.rounds for text in (one.x, one.y, one.xor)})
    who = "The entity is" if count == 1 else f"All {count} entities are"
    parts = [
        f"{who} found in the text, and so is what takes {'its' if count == 1 else 'their'} place, in {texts} texts"
    ]
    if evidence.untested:
        listed = ", ".join(f"“{one.text}”" for one in evidence.untested[:3])
        parts.append(f"{len(evidence.untested)} could not be tested ({listed})")
    if count == 1:
        parts.append("one entity alone has no other to hang on, and of that the tests miss all")
    if error_bound is None:
        parts.append("of answers that varied the best were taken, and how much that misses is not known")
    else:
        missed = f"the tests miss a fault in a tenth of all such texts in up to {error_bound:.1%} of checks"
        parts.append(f"{missed}, a rarer one mostly, and what the list lacks always")
    return "; ".join(parts) + "."


def cause_in_words(cause: FailureCause) -> str:
    """A cause for a person."""
    forms = (" or " if cause.kind == "dependent" else " and ").join(f"“{form}”" for form in cause.forms)
    entity = f"“{cause.entity}”"
    share = f"{cause.named} of {cause.answers}"
    return {
        "weak": f"{entity} is found only now and then: it, or what takes its place, in {share} answers",
        "merged": f"{entity} is extracted in one with another, as {forms}",
        "split": f"{entity} is extracted in parts, as {forms}",
        "partial": f"{entity} is extracted in another form, as {forms}",
        "dependent": f"{entity}, or what takes its place, is found only "
        + (f"where {forms} stands" if forms else "in some texts, and hangs on what else stands there"),
        "replacement_fault": f"{forms}, in the place of {entity}, is found in {share} answers only",
        "assumed_knowledge": f"{entity} is not in the text",
        "never_named": f"{entity} is found, and {forms} in its place never is",
        "not_given": f"{entity} is on the list, but found in {share} answers about the text as it is",
        "wording": f"{entity} is found in {share} answers once the text is put into other words",
    }[cause.kind]
