"""The causes for which an extraction is not to be trusted (paper, appendix A.3)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice

from checkers.extraction.extracted import Answers, Extracted, Pairs, extra, is_among, named
from checkers.extraction.linearity import Vector
from checkers.extraction.mentions import find_mentions
from schemas import EntityCount, FailureCause

_WORD = re.compile(r"[^\W_]+")
_MOST = 20
_MOST_FORMS = 5
_MOSTLY = 0.75
"""An entity that is named so often, while its replacement is left out so often, is not weak itself."""


def causes_of(
    at_fault: Vector, pairs: Pairs, sentences: Mapping[Vector, str], answers: Mapping[Vector, Answers]
) -> tuple[FailureCause, ...]:
    """The causes for which the entities `at_fault` are, looked for in all answers that are known.

    Their causes can overlap, and the answers about `sentences` may hold entities that those do not have, which is a
    cause of its own.
    """
    unreplaced, replaced = named(pairs, answers)
    wrong = (j for j in range(len(pairs.entities)) if at_fault >> j & 1)
    of_entities = (_of_entity(j, pairs, answers, unreplaced[j], replaced[j]) for j in wrong)
    assumed = _assumed(pairs, sentences, {v: answers[v] for v in sentences})
    return tuple(islice(chain(chain.from_iterable(of_entities), assumed), _MOST))


def _of_entity(
    j: int, pairs: Pairs, answers: Mapping[Vector, Answers], unreplaced: EntityCount, replaced: EntityCount
) -> Iterator[FailureCause]:
    entity, replacement = pairs.entities[j], pairs.replacements[j]
    tally = {"named": replaced.times, "answers": replaced.answers}
    forms: dict[str, list[str]] = {"merged": [], "split": [], "partial": []}
    for v, known in answers.items():
        standing = pairs.standing(v)
        for one in known:
            if one is not None and not is_among(standing[j], one):
                kind, seen = _form(j, standing, one)
                forms[kind] += [form for form in seen if form not in forms[kind]]
    for kind, seen in forms.items():
        if seen:
            yield FailureCause.model_validate({"kind": kind, "entity": entity, "forms": seen[:_MOST_FORMS], **tally})
    has_form = any(forms.values())
    both = {"named": unreplaced.times + replaced.times, "answers": unreplaced.answers + replaced.answers}
    others = None if has_form else _others(j, pairs, answers)
    is_known = not has_form and _mostly(unreplaced.times, unreplaced.answers)
    if others is not None:
        yield FailureCause(kind="dependent", entity=entity, forms=others[:_MOST_FORMS], **both)
    elif is_known and _mostly(replaced.answers - replaced.times, replaced.answers):
        kind = "replacement_fault" if replaced.times else "never_named"
        yield FailureCause.model_validate({"kind": kind, "entity": entity, "forms": (replacement,), **tally})
    elif not has_form or 0 < replaced.times < replaced.answers:
        yield FailureCause(kind="weak", entity=entity, **both)


def _mostly(times: int, answers: int) -> bool:
    return answers > 0 and times >= _MOSTLY * answers


def _others(j: int, pairs: Pairs, answers: Mapping[Vector, Answers]) -> tuple[str, ...] | None:
    """The entities that stand in just those texts of which each answer names what is in the entity's place.

    None unless in some texts each answer names it, and in all others none does.
    """
    others = {*pairs.entities, *pairs.replacements} - {pairs.entities[j], pairs.replacements[j]}
    for is_replaced in (1, 0):
        found: dict[Vector, bool] = {}
        for v, known in answers.items():
            standing = pairs.standing(v)
            said = {is_among(standing[j], one) for one in known if one is not None and v >> j & 1 == is_replaced}
            if len(said) > 1:
                return None
            found |= dict.fromkeys([v] if said else [], True in said)
        if len(set(found.values())) > 1:
            return tuple(sorted(one for one in others if all((one in pairs.standing(v)) == found[v] for v in found)))
    return None


def _form(j: int, standing: Sequence[str], extracted: Extracted) -> tuple[str, list[str]]:
    """In what other form what stands in the j-th place was extracted: the kind, and the forms, if there are any."""
    whole = _words(standing[j])
    longer = [one for one in extracted if whole != _words(one) and _holds(_words(one), whole)]
    parts = [one for one in extracted if _words(one) != whole and _holds(whole, _words(one))]
    others = [_words(one) for i, one in enumerate(standing) if i != j]
    merged = [one for one in longer if any(_holds(_words(one), other) for other in others)]
    if merged:
        return "merged", merged
    if len(parts) > 1:
        return "split", parts
    return "partial", longer + parts


def _assumed(
    pairs: Pairs, sentences: Mapping[Vector, str], answers: Mapping[Vector, Answers]
) -> Iterator[FailureCause]:
    for found in extra(pairs, answers):
        entity = found.entity
        about = [
            v
            for v, known in answers.items()
            if any(one and entity in one for one in known) and not is_among(entity, pairs.standing(v))
        ]
        if all((entity, "not_in_text") in find_mentions(sentences[v], [entity]).unreplaceable for v in about):
            yield FailureCause(kind="assumed_knowledge", entity=entity, named=found.times, answers=found.answers)


# The same names come again in every answer, and each is compared with each entity: anew each time, a long list would
# hold up everything else for seconds.
@lru_cache(maxsize=50_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _holds(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    """True if the words of the second stand in the first one, in one piece."""
    width = len(shorter)
    return width > 0 and any(longer[at : at + width] == shorter for at in range(len(longer) - width + 1))
