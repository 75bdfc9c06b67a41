"""The evidence of a verdict, made ready for its template: texts side by side, with the places that belong together."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from pydantic import JsonValue

from schemas import (
    Abstention,
    ConsistencyEvidence,
    CriterionEvidence,
    EquivalenceEvidence,
    ExtractionEvidence,
    SentenceFinding,
    Turn,
    Verdict,
)
from schemas.equivalence import PhraseAlignment
from schemas.extraction import LinearityTestRound, TransformedSentence
from web.texts import MarkedSpan, Piece, pieces, place

MOST_FINDINGS = 100  # Sentences that a page shows, those at fault first.
_MOST_PARTS = 30
_FLIPPED = str.maketrans("01", "10")


class Finding(NamedTuple):
    """A sentence with the number that it, its reason and its passage are marked with."""

    number: int
    sentence: SentenceFinding
    is_found: bool
    """True if its passage is marked."""

    @property
    def look(self) -> str:
        """A key of `FINDINGS`."""
        if self.sentence.unsure:
            return "open"
        return "fault" if self.sentence.mark < 0 else "fine"


def grounding(evidence: ConsistencyEvidence, record: dict[str, JsonValue] | None) -> dict[str, object]:
    """A response and its sources, their passages marked; of too many sentences those at fault are shown."""
    shown = sorted(evidence.sentences, key=lambda one: (one.mark, one.start))[:MOST_FINDINGS]
    shown.sort(key=lambda one: one.start)
    response, spans = _response(evidence, shown, record)
    passages: dict[int, list[MarkedSpan]] = {}
    texts = _references(evidence, record)
    for number, one in enumerate(shown, start=1):
        for index, (_, text) in enumerate(texts):
            if one.passage and (where := place(text, one.passage)):
                passages.setdefault(index, []).append(MarkedSpan(*where, number))
                break
    found = {span.number for spans in passages.values() for span in spans}
    # Those with a passage, and as many of the others as there is room for.
    kept = sorted(sorted(range(len(texts)), key=lambda index: index not in passages)[:_MOST_PARTS])
    findings = [Finding(number, one, number in found) for number, one in enumerate(shown, start=1)]
    return {
        "response": list(pieces(response, spans)),
        "is_quoted": record is None,  # the response is put together from the sentences of the evidence
        "findings": findings,
        "faults": [one.number for one in findings if one.look == "fault"],
        "left_out": len(evidence.sentences) - len(shown),
        "at_fault": sum(one.mark < 0 and not one.unsure for one in evidence.sentences),
        "parts": [(texts[index][0], list(pieces(texts[index][1], passages.get(index, ())))) for index in kept],
        "parts_left_out": len(texts) - len(kept),
        "earlier": _earlier(evidence, shown),
    }


def _response(
    evidence: ConsistencyEvidence, shown: Sequence[SentenceFinding], record: dict[str, JsonValue] | None
) -> tuple[str, list[MarkedSpan]]:
    """The response, and the places of the sentences in it."""
    whole = (record or {}).get("response")
    if isinstance(whole, str) and all(whole[one.start : one.end] == one.text for one in shown):
        return whole, [MarkedSpan(one.start, one.end, number) for number, one in enumerate(shown, start=1)]
    numbers = {id(one): number for number, one in enumerate(shown, start=1)}
    text, spans = "", []
    for one in sorted((*shown, *evidence.without_claim[:MOST_FINDINGS]), key=lambda one: one.start):
        text += " " * bool(text)
        if number := numbers.get(id(one)):
            spans.append(MarkedSpan(len(text), len(text) + len(one.text), number))
        text += one.text
    return text, spans


def _earlier(evidence: ConsistencyEvidence, shown: Sequence[SentenceFinding]) -> list[tuple[Turn, list[Piece]]]:
    """The turns before, with the sentences that are contradicted marked."""
    found = []
    for turn in evidence.earlier:
        spans = [
            MarkedSpan(*where, number)
            for number, one in enumerate(shown, start=1)
            if one.contradicts is not None and one.contradicts.record_id == turn.record_id
            if (where := place(turn.response, one.contradicts.sentence))
        ]
        found.append((turn, list(pieces(turn.response, spans))))
    return found


def _references(evidence: ConsistencyEvidence, record: dict[str, JsonValue] | None) -> list[tuple[str, str]]:
    """Titles and texts of what the response was compared with."""
    if record is None:
        return []
    samples = evidence.against == "samples"
    texts, title = record.get("samples" if samples else "contexts"), "Other answer" if samples else "Context"
    listed = map(_passage, texts) if isinstance(texts, list) else ()
    found = [(f"{title} {number}", text) for number, text in enumerate(listed, start=1)]
    reference = None if samples else record.get("reference")
    return [*found, ("Reference", reference)] if isinstance(reference, str) else found


def _passage(value: JsonValue) -> str:
    """The text of a passage, which retrievers wrap in different ways."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("text", "page_content", "content") if key in value), None)
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def quotation(evidence: CriterionEvidence, record: dict[str, JsonValue] | None) -> list[Piece]:
    """The response with the words at fault marked, or these alone if the record is not at hand."""
    quote, whole = evidence.quote or "", str((record or {}).get("response", ""))
    where = place(whole, quote) if quote else (0, 0)
    return list(pieces(whole, [MarkedSpan(*where, 1)])) if where else [Piece(quote, (1,), (1,))]


def aligned(evidence: EquivalenceEvidence) -> list[tuple[PhraseAlignment, list[Piece], list[Piece], list[int]]]:
    """The alignments that say something different, the one that decides first.

    Each with both sentences, whose phrases that were matched are marked, and the numbers of pairs that do not mean the
    same; 0, the number of words in no pair.
    """
    worth = {"found": 0, "denied": 1, "not_asked": 2, "uncovered": 3}
    ordered = sorted(evidence.proof.alignments, key=lambda one: (worth[one.outcome], len(one.uncovered)))
    told: dict[object, tuple[PhraseAlignment, list[Piece], list[Piece], list[int]]] = {}
    for one in ordered:
        pairs = list(enumerate(one.pairs, start=1))
        # Words in no pair are marked with 0.
        left = [MarkedSpan(word.start, word.end, 0) for word in one.uncovered]
        first = [MarkedSpan(*pair.first_span, number) for number, pair in pairs] + (left if one.covers == 1 else [])
        second = [MarkedSpan(*pair.second_span, number) for number, pair in pairs] + (left if one.covers == 2 else [])
        faults = [0, *(number for number, pair in pairs if pair.confirmed is False)]
        texts = list(pieces(evidence.sentence1, first)), list(pieces(evidence.sentence2, second))
        told.setdefault((one.pairs, one.uncovered), (one, *texts, faults))
    return list(told.values())


def telling(
    evidence: ExtractionEvidence,
) -> list[tuple[LinearityTestRound, list[tuple[str, TransformedSentence, bool]]]]:
    """The tests of an extraction, those that show its fault first, each with names and texts.

    True stands by a text where something was not found that stood there, or found that did not.
    """
    tested = []
    for one in evidence.rounds:
        named = (("x", one.x), ("y", one.y), ("x xor y", one.xor))
        texts = [(name, text, text.value != text.vector.translate(_FLIPPED)) for name, text in named]
        tested.append((one, texts))
    return sorted(tested, key=lambda one: (one[0].outcome != "failed", -sum(wrong for *_, wrong in one[1])))


def shown(verdict: Verdict, record: dict[str, JsonValue] | None) -> dict[str, Any]:
    """A verdict and its record, with its evidence made ready for its template."""
    evidence, more = verdict.evidence, dict[str, Any]()
    of_sentences = evidence.graded if isinstance(evidence, Abstention) else evidence
    if isinstance(of_sentences, ConsistencyEvidence):
        more = {"grounding": grounding(of_sentences, record)}
    elif isinstance(evidence, CriterionEvidence):
        more = {"response": quotation(evidence, record)}
    elif isinstance(evidence, EquivalenceEvidence):
        more = {"aligned": aligned(evidence)}
    elif isinstance(evidence, ExtractionEvidence):
        more = {"rounds": telling(evidence)}
    return {"verdict": verdict, "evidence": evidence, "record": record, **more}
