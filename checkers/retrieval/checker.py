"""The retrieval checker: a store's hit, and what else was near, are matched with the query as texts."""

from collections.abc import Sequence

from checkers.checker import Checker, Decision, ScoringSettings, Undecidable
from checkers.retrieval.evidence import reason_of
from checkers.retrieval.questions import NEEDED, compared, is_question
from schemas import Retrieval, RetrievalEvidence
from schemas.evidence import TextMatch
from schemas.records import Matched

_MOST_CANDIDATES = 10
"""The first say whether the store had something better; each more makes the question longer."""
_MOST_CHARACTERS = 20_000
"""Query and matched text together, as they are in one question; candidates share the remainder."""
ACCEPTED_FROM = 0.5
"""The score from which on a hit is accepted, where no thresholds are set."""


class RetrievalSettings(ScoringSettings):
    """The retrieval checker: what is accepted."""


class RetrievalChecker(Checker[RetrievalSettings]):
    """Decides whether the text that a store matched with a query is one that the query needs."""

    name = "retrieval"

    async def decide(self, record: Retrieval) -> Decision:
        """Match every hit in both directions, or as an answer to the query; undecidable without anything to compare."""
        for what, text in (("query", record.query), ("matched text", record.matched.text)):
            if not has_words(text):
                raise Undecidable("empty_text", f"the {what} holds no word")
        length = len(record.query) + len(record.matched.text)
        if length > _MOST_CHARACTERS:
            raise Undecidable("too_long", f"{length} characters; at most {_MOST_CHARACTERS} are compared")
        candidates, left_out = candidates_of(record, most=_MOST_CANDIDATES, characters=_MOST_CHARACTERS - length)
        hits = (record.matched, *candidates)
        # It is to be answered, not to be entailed.
        asks = record.store == "knowledge" and is_question(record.query)
        matching = "question" if asks else record.store
        findings = await compared(self.judge, matching, record.query, [hit.text for hit in hits])
        found, *others = (
            TextMatch(
                id=hit.id,
                text=hit.text,
                vector_score=hit.score,
                score=min(finding[way].score for way in NEEDED[record.store]),
                text_to_query=finding["text_to_query"],
                query_to_text=finding.get("query_to_text"),
            )
            for hit, finding in zip(hits, findings, strict=True)
        )
        # The choice of text matching in the match's place: of equals the first, and nothing below the threshold.
        best = max([found, *others], key=lambda one: one.score)
        thresholds = self.settings.thresholds
        bounds = (thresholds.accept_from, thresholds.reject_below, ACCEPTED_FROM)
        least = next(bound for bound in bounds if bound is not None)
        accepted = thresholds.accepts(found.score) if thresholds.are_set else found.score >= least
        if accepted is None:
            raise Undecidable("between_thresholds", thresholds.between(found.score), score=found.score)
        evidence = RetrievalEvidence(
            store=record.store,
            metric=record.metric,
            needs=NEEDED[record.store],
            query=record.query,
            is_question=asks,
            matched=found,
            candidates=tuple(others),
            left_out=left_out,
            better=None if best is found or best.score < least else best,
            threshold=least,
            judge_version=self.judge.version,
            self_test=self.judge.self_test,
        )
        reason = reason_of(evidence, accepted=accepted)
        return Decision(accepted=accepted, score=found.score, reason=reason, evidence=evidence)


def candidates_of(record: Retrieval, *, most: int, characters: int) -> tuple[Sequence[Matched], int]:
    """The first candidates, `most` of up to `characters` together; and the number of further ones.

    The matched text is none of them: stores that return the best k have it among them.
    """
    matched = record.matched
    others = [
        one for one in record.candidates if has_words(one.text) and (one.id, one.text) != (matched.id, matched.text)
    ]
    chosen: list[Matched] = []
    for one in others[:most]:
        if len(one.text) <= characters:
            chosen.append(one)
            characters -= len(one.text)
    return chosen, len(others) - len(chosen)


def has_words(text: str) -> bool:
    """True if the text holds a letter or a digit: anything to compare."""
    return any(character.isalnum() for character in text)
