"""The causes of an extraction that is not linear (paper, appendix A.3)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice

from checkers.extraction.extracted import Answers, Extracted, Pairs, extra, is_among, named
from checkers.extraction.linearity import TestResult, Vector, wrong_bits
from checkers.extraction.mentions import find_mentions
from schemas import EntityCount, FailureCause

_WORD = re.compile(r"[^\W_]+")
_MOST = 20
_MOST_FORMS = 5
_MOSTLY = 0.75
"""An entity that is named so often, while its replacement is left out so often, is not weak itself."""


def causes_of(
    failed: TestResult, pairs: Pairs, sentences: Mapping[Vector, str], answers: Mapping[Vector, Answers]
) -> tuple[FailureCause, ...]:
    """The causes of a failed test, looked for in all answers that are known.

    An entity is at fault if its bit is wrong in the test. Its causes can overlap, and the test's answers may hold
    entities that their sentences do not, which is a cause of its own.
    """
    values = [u for u in failed.values if u is not None]
    wrong = wrong_bits(values, pairs.mask)
    unreplaced, replaced = named(pairs, answers)
    of_entities = (
        _of_entity(j, pairs, answers, unreplaced[j], replaced[j]) for j in range(len(pairs.entities)) if wrong >> j & 1
    )
    assumed = _assumed(pairs, sentences, {v: answers[v] for v in failed.test.vectors})
    return tuple(islice(chain(chain.from_iterable(of_entities), assumed), _MOST))


def _of_entity(
    j: int, pairs: Pairs, answers: Mapping[Vector, Answers], unreplaced: EntityCount, replaced: EntityCount
) -> Iterator[FailureCause]:
    entity = pairs.entities[j]
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
    is_known = _mostly(unreplaced.times, unreplaced.answers)
    if not has_form and is_known and _mostly(replaced.answers - replaced.times, replaced.answers):
        yield FailureCause(kind="replacement_fault", entity=entity, forms=(pairs.replacements[j],), **tally)
    elif not has_form or 0 < replaced.times < replaced.answers:
        yield FailureCause(kind="weak", entity=entity, **tally)


def _mostly(times: int, answers: int) -> bool:
    return answers > 0 and times >= _MOSTLY * answers


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
        if all(_is_absent(entity, sentences[v]) for v in about):
            yield FailureCause(kind="assumed_knowledge", entity=entity, named=found.times, answers=found.answers)


def _is_absent(entity: str, sentence: str) -> bool:
    return dict(find_mentions(sentence, [entity]).unreplaceable).get(entity) == "not_in_text"


# The same names come again in every answer, and each is compared with each entity: anew each time, a long list would
# hold up everything else for seconds.
@lru_cache(maxsize=50_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _holds(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    """True if the words of the second stand in the first one, in one piece."""
    width = len(shorter)
    return width > 0 and any(longer[at : at + width] == shorter for at in range(len(longer) - width + 1))
