"""Evidence of a check: tests and answers, the causes of a rejection (paper, appendix A.3), and both in words."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from math import prod
from typing import Literal

from checkers.extraction.linearity import Answers, Reading, Tried, Vector, consistency, groups, majority, strays
from checkers.extraction.mentions import Located, find_mentions, is_among, missing
from checkers.wording import labelled
from models.wording import on_a_line
from schemas import ExtractionEvidence, Verdict
from schemas.extraction import AnswerGroup, EntityCount, FailureCause, LinearityTestRound, TransformedSentence

_MOST_LISTED = 20
_MOST_SHOWN = 200
_MOST_FORMS = 5
_MOST_SAID = 3
_Form = Literal["merged", "split", "partial"]
_MOSTLY = 0.75
"""An entity that is named so often, while its replacement is missing so often, is not weak itself."""


def absent(located: Located) -> list[FailureCause]:
    """A cause for each entity of the record that its text does not hold."""
    away = (one.text for one in located.unreplaceable if one.reason == "not_in_text")
    return [FailureCause(kind="assumed_knowledge", entity=entity) for entity in away]


def not_given(kind: Literal["not_given", "wording"], entities: Sequence[str], found: Answers) -> list[FailureCause]:
    """A cause for each entity that most answers about a text as it is lack."""
    readings = [u for u in (missing(entities, one) for one in found) if u is not None]
    lost = majority(readings) or 0
    return [
        FailureCause(kind=kind, entity=one, named=sum(not u >> j & 1 for u in readings), answers=len(readings))
        for j, one in enumerate(entities)
        if lost >> j & 1
    ]


def causes(tried: Tried, example: Collection[str]) -> list[FailureCause]:
    """The causes for which the tests reject, looked for in all answers that were taken; none if they do not.

    What stands in an entity's place must be named in each text, or in half of all answers where that is lenient. What
    is copied of the entities that the prompt shows is no knowledge.
    """
    results = [one for one in tried.results if one.outcome == "failed"][:1] or tried.results
    counts = list(zip(tried.named(replaced=False), tried.named(replaced=True), strict=True))
    lost = strays(results, tried.located.mask)
    if tried.lenient and results[0].outcome != "failed":
        lost = sum(1 << j for j, two in enumerate(counts) if any(2 * one.times < one.answers for one in two))
    if not lost:
        return []
    of_entities = (_of_entity(j, tried, *counts[j]) for j in range(len(counts)) if lost >> j & 1)
    return list(islice(chain(chain.from_iterable(of_entities), _assumed(tried, example)), _MOST_LISTED))


def _of_entity(j: int, tried: Tried, unreplaced: EntityCount, replaced: EntityCount) -> Iterator[FailureCause]:
    entity, replacement = tried.located.entities[j], tried.located.replacements[j]
    tally = {"entity": entity, "named": replaced.times, "answers": replaced.answers}
    forms: dict[_Form, dict[str, None]] = {"merged": {}, "split": {}, "partial": {}}
    for v, known in tried.answers.items():
        there = tried.located.in_places(v)
        for one in known:
            if one is not None and not is_among(there[j], one):
                kind, seen = _form(j, there, one)
                forms[kind].update(dict.fromkeys(seen))
    for kind, of_kind in forms.items():
        if of_kind:
            yield FailureCause.model_validate({"kind": kind, "forms": list(of_kind)[:_MOST_FORMS], **tally})
    has_form = any(forms.values())
    is_known = not has_form and unreplaced.times >= _MOSTLY * unreplaced.answers > 0
    if is_known and replaced.answers - replaced.times >= _MOSTLY * replaced.answers > 0:
        fault = "replacement_fault" if replaced.times else "never_named"
        yield FailureCause.model_validate({"kind": fault, "forms": (replacement,), **tally})
    elif not has_form or 0 < replaced.times < replaced.answers:
        times, answers = unreplaced.times + replaced.times, unreplaced.answers + replaced.answers
        yield FailureCause(kind="weak", entity=entity, named=times, answers=answers)


def _form(j: int, there: Sequence[str], extracted: Sequence[str]) -> tuple[_Form, list[str]]:
    """How the entity in the j-th place was altered when extracted: the kind, and the forms, if there are any."""
    whole = _words(there[j])
    altered = [one for one in extracted if _words(one) not in {whole, " "}]
    longer = [one for one in altered if whole in _words(one)]
    parts = [one for one in altered if _words(one) in whole]
    others = [_words(one) for i, one in enumerate(there) if i != j]
    if merged := [one for one in longer if any(other in _words(one) for other in others)]:
        return "merged", merged
    return ("split", parts) if len(parts) > 1 else ("partial", longer + parts)


def _assumed(tried: Tried, example: Collection[str]) -> Iterator[FailureCause]:
    """What is in none of the texts that it was extracted from, nor shown by the prompt."""
    located = tried.located
    for found in tried.besides()[:_MOST_SHOWN]:
        entity = found.entity
        about = (v for v, known in tried.answers.items() if any(one and entity in one for one in known))
        texts = (located.sentence(v) for v in about if not is_among(entity, located.in_places(v)))
        if entity not in example and all(absent(find_mentions(text, [entity])) for text in texts):
            yield FailureCause(kind="assumed_knowledge", entity=entity, named=found.times, answers=found.answers)


# Each name in each answer is compared with each entity: without the cache a long list would take seconds.
@lru_cache(maxsize=50_000)
def _words(text: str) -> str:
    """The words with a blank around each, so that one text has another's if it holds them in one piece."""
    return " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])


def shown(tried: Tried) -> dict[str, object]:
    """The evidence's tests, with their texts and answers, and what the vectors do not show."""
    located = tried.located

    def digits(vector: Vector) -> str:
        return "".join(str(vector >> j & 1) for j in range(len(located.entities)))

    def text(v: Vector, u: Reading, about: Answers) -> TransformedSentence:
        told = (AnswerGroup(entities=None if one is None else one[:_MOST_SHOWN], count=n) for one, n in groups(about))
        value = None if u is None else digits(u)
        return TransformedSentence(vector=digits(v), text=located.sentence(v), value=value, answers=tuple(told))

    lost = [one.model_copy(update={"times": one.answers - one.times}) for one in tried.named(replaced=False)]
    return {
        "rounds": tuple(
            LinearityTestRound(outcome=one.outcome, x=x, y=y, xor=xor)
            for one in tried.results
            for x, y, xor in [map(text, one.test, one.values, one.answers)]
        ),
        "ideal_share": tried.ideal_share,
        "answers": sum(map(len, tried.answers.values())),
        "unnamed": tuple(one.entity for one in tried.named(replaced=True) if one.answers and not one.times),
        "lost": tuple(one for one in lost if one.times)[:_MOST_LISTED],
        "extra": tuple(tried.besides()[:_MOST_LISTED]),
    }


def statistics(tried: Tried, untouched: Answers) -> dict[str, object]:
    """A_test, A_rate, Con_rs and Con_o of the full schedule (the paper's table 1)."""
    combinations = passing = 0
    mask = tried.located.mask
    for result in tried.results:
        read = ([tried.located.read(one) for one in about] for about in result.answers)
        of_x, of_y, of_xor = (Counter(u & mask for u in known if u is not None) for known in read)
        # Of the k^3 combinations of answers.
        passing += sum(n * m * of_xor[~(a ^ b) & mask] for a, n in of_x.items() for b, m in of_y.items())
        combinations += prod(map(len, result.answers))
    return {
        "a_test": sum(one.outcome == "passed" for one in tried.results),
        "a_rate": passing / combinations,
        "con_rs": min(consistency(known) for one in tried.results for known in one.answers),
        "con_o": consistency(untouched),
    }


def reason_of(evidence: ExtractionEvidence, error_bound: float | None) -> str:
    """The verdict in a sentence."""
    if evidence.causes:
        return f"The extraction is not to be trusted: {'; '.join(dict.fromkeys(_causes_in_words(evidence)))}."
    count, untested = len(evidence.entities), [one for one in evidence.untested if one.reason != "repeated"]
    texts = len({text.vector for one in evidence.rounds for text in (one.x, one.y, one.xor)})
    who = "The entity and its replacement" if count == 1 else f"All {count} entities and their replacements"
    parts = [f"{who} are found in {texts} texts"]
    if untested:
        listed = ", ".join(f"“{one.text}”" for one in untested[:3])
        parts.append(f"{len(untested)} could not be tested ({listed})")
    if count == 1:
        parts.append("Whether an entity depends on another is not tested with one alone")
    if error_bound is None:
        parts.append("Of answers that varied the best were taken; how much that misses is not known")
    else:
        bound = f"A fault in one of ten such texts is missed in up to {error_bound:.1%} of checks"
        parts.append(bound if texts < 2**count else "No other text can be made with them")
        parts.append("Entities that the list lacks are never noticed")
    return ". ".join(parts) + "."


def _causes_in_words(evidence: ExtractionEvidence) -> Iterator[str]:
    """The first causes for a person."""
    replacements = {one.text: one.replacement for one in evidence.entities}
    return (_in_words(cause, replacements.get(cause.entity)) for cause in evidence.causes[:_MOST_SAID])


def _in_words(cause: FailureCause, replacement: str | None) -> str:
    forms = " and ".join(f"“{form}”" for form in cause.forms)
    entity = f"“{cause.entity}”"
    either = f"{entity} or its replacement “{replacement}”"
    assumed = "extracted from texts that lack it" if cause.answers else "not in the text"
    share = f"{cause.named} of {cause.answers}"
    return {
        "weak": f"{entity} is found only in some texts: it or its replacement in {share} answers",
        "merged": f"{either} is extracted together with others, as {forms}",
        "split": f"{either} is extracted in parts, as {forms}",
        "partial": f"{either} is extracted in another form, as {forms}",
        "replacement_fault": f"{forms}, the replacement of {entity}, is found in only {share} answers",
        "assumed_knowledge": f"{entity} is {assumed}",
        "never_named": f"{entity} is found, but its replacement {forms} never is",
        "not_given": f"{entity} is on the list, but found in {share} answers about the text as it is",
        "wording": f"{entity} is found in {share} answers once the text is put into other words",
    }[cause.kind]


_FLIPPED = str.maketrans("01", "10")


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Reason and evidence of a verdict on an extraction; of any other nothing."""
    evidence = verdict.evidence
    if not isinstance(evidence, ExtractionEvidence):
        return
    yield from labelled("", verdict.reason)
    yield from labelled("text:     ", evidence.text)
    replaced = ", ".join(f"{one.text} → {one.replacement}" for one in evidence.entities)
    if replaced:
        yield from labelled("replaced: ", replaced)
    failed = [one for one in evidence.rounds if one.outcome == "failed"]
    texts = [text for one in failed or evidence.rounds for text in (one.x, one.y, one.xor)]
    wrong = [text for text in texts if text.value != text.vector.translate(_FLIPPED)]
    for shown in (wrong or texts)[:1]:
        yield from labelled("asked:    ", f"“{shown.text}”")
        for group in shown.answers[:_MOST_SAID]:
            found = "no usable answer" if group.entities is None else ", ".join(group.entities) or "nothing"
            yield from labelled("          ", f"{group.count}× {found}")
    for cause in _causes_in_words(evidence):
        yield from labelled("fault:    ", cause)
    for one in evidence.untested[:_MOST_SAID]:
        yield from labelled("untested: ", f"“{one.text}” ({one.reason.replace('_', ' ')})")
    for label, counts in (("missing:  ", evidence.lost), ("besides:  ", evidence.extra)):
        told = [f"“{on_a_line(one.entity)}” in {one.times} of {one.answers} answers" for one in counts[:_MOST_SAID]]
        yield from labelled(label, ", ".join(told)) if told else ()
