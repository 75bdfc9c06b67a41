"""A check of an extraction for a person: a text with replaced entities, what was extracted, and the entity at fault."""

from collections.abc import Iterator

from checkers.extraction.evidence import cause_in_words
from checkers.wording import labelled
from models.wording import on_a_line
from schemas import EntityCount, ExtractionEvidence, TransformedSentence, Verdict

_MOST = 3
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
    shown = _telling(evidence)
    if shown is not None:
        yield from labelled("asked:    ", f"“{shown.text}”")
        for group in shown.answers[:_MOST]:
            found = "no usable answer" if group.entities is None else ", ".join(group.entities) or "nothing"
            yield from labelled("          ", f"{group.count}× {found}")
    for cause in evidence.causes[:_MOST]:
        yield from labelled("fault:    ", cause_in_words(cause))
    for one in evidence.untested[:_MOST]:
        why = one.reason.replace("_", " ")
        yield from labelled("untested: ", f"“{one.text}” cannot be replaced in the text ({why})")
    yield from _counted("missing:  ", evidence.lost)
    yield from _counted("besides:  ", evidence.extra)


def _telling(evidence: ExtractionEvidence) -> TransformedSentence | None:
    """The text with the most replaced entities that shows the fault, in the test that failed or the first one."""
    failed = [one for one in evidence.rounds if one.outcome == "failed"]
    texts = [text for one in failed or evidence.rounds for text in (one.x, one.y, one.xor)]
    wrong = [text for text in texts if text.value != text.vector.translate(_FLIPPED)]
    return max(wrong or texts, key=lambda text: text.vector.count("1"), default=None)


def _counted(label: str, counts: tuple[EntityCount, ...]) -> Iterator[str]:
    if counts:
        told = [f"“{on_a_line(one.entity)}” in {one.times} of {one.answers} answers" for one in counts[:_MOST]]
        more = f", and {len(counts) - _MOST} more" if len(counts) > _MOST else ""
        yield from labelled(label, ", ".join(told) + more)
