"""The retrieval checker: a store's hit, and what else was near, are matched with the query as texts."""

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.retrieval.evidence import reason_of
from checkers.retrieval.questions import NEEDED, compared, matching_of
from checkers.thresholds import ScoringSettings
from schemas import Matched, Retrieval, RetrievalEvidence, TextMatch

_MOST_CANDIDATES = 10
"""The closest of them say whether the store had something better; each more makes the question longer."""
_MOST_CHARACTERS = 20_000
"""Query and matched text together, as they are in one question; candidates share the remainder."""


_ACCEPTED_FROM = 0.5
"""The score from which on a hit is accepted, where no thresholds are set."""


class RetrievalSettings(ScoringSettings):
    """The retrieval checker: what is accepted."""

    @property
    def accepted_from(self) -> float:
        """The score from which on a hit is accepted."""
        found = self.thresholds.accept_from
        return _ACCEPTED_FROM if found is None else found


class RetrievalChecker(Checker[RetrievalSettings]):
    """Decides whether the text that a store matched with a query is one that the query needs."""

    name = "retrieval"

    def __init__(self, settings: RetrievalSettings, models: Models) -> None:
        """Raise ValueError if the thresholds were calibrated on the scores of another judge."""
        super().__init__(settings, models)
        settings.thresholds.require(self.judge.name)

    async def decide(self, record: Retrieval) -> Decision:
        """Match every hit in both directions, or as an answer to the query; undecidable without anything to compare."""
        hits, left_out = self._hits(record)
        matching = matching_of(record.store, record.query)
        findings = await compared(self.judge, matching, record.query, [hit.text for hit in hits])
        found, *others = (
            TextMatch(
                id=hit.id,
                text=hit.text,
                vector_score=hit.score,
                score=finding.score(record.store),
                text_to_query=finding.text_to_query,
                query_to_text=finding.query_to_text,
            )
            for hit, finding in zip(hits, findings, strict=True)
        )
        thresholds, least = self.settings.thresholds, self.settings.accepted_from
        accepted = thresholds.accepts(found.score) if thresholds.are_set else found.score >= least
        evidence = RetrievalEvidence(
            store=record.store,
            metric=record.metric,
            needs=NEEDED[record.store],
            query=record.query,
            is_question=matching == "question",
            matched=found,
            candidates=tuple(others),
            left_out=left_out,
            better=self._better(found, others),
            threshold=least,
            judge_version=self.judge.version,
            self_test=self.judge.self_test,
        )
        reason = reason_of(evidence, accepted=accepted)
        return Decision(accepted=accepted, score=found.score, reason=reason, evidence=evidence)

    def _hits(self, record: Retrieval) -> tuple[tuple[Matched, ...], int]:
        """The texts to compare, the matched one first, and how many candidates are left out.

        Raises:
            Undecidable: there is nothing to compare, or too much.
        """
        for what, text in (("query", record.query), ("matched text", record.matched.text)):
            if not has_words(text):
                raise Undecidable("empty_text", f"the {what} holds no word")
        length = len(record.query) + len(record.matched.text)
        if length > _MOST_CHARACTERS:
            raise Undecidable("too_long", f"{length} characters; at most {_MOST_CHARACTERS} are compared")
        room = _MOST_CHARACTERS - length
        candidates, left_out = candidates_of(record, most=_MOST_CANDIDATES, characters=room)
        return (record.matched, *candidates), left_out

    def _better(self, matched: TextMatch, others: list[TextMatch]) -> TextMatch | None:
        """The choice of text matching in the match's place: of equals the closest, and nothing below the threshold."""
        best = max([matched, *others], key=lambda one: one.score)
        return None if best is matched or best.score < self.settings.accepted_from else best


_DISTANCES = ("distance", "euclid", "l2", "manhattan", "l1", "hamming", "canberra", "lance", "bray", "mahalanobis")
"""Parts of names by which stores and libraries call metrics whose smaller values are closer."""


def candidates_of(record: Retrieval, *, most: int, characters: int) -> tuple[tuple[Matched, ...], int]:
    """Up to `most` candidates of up to `characters` together, the closest first; and the number of further ones.

    The matched text is none of them.
    """
    others = [one for one in _others(record) if has_words(one.text)]
    ordered = sorted(others, key=lambda one: one.score, reverse=larger_is_closer(record))
    chosen: list[Matched] = []
    for one in ordered[:most]:
        if len(one.text) <= characters:
            chosen.append(one)
            characters -= len(one.text)
    return tuple(chosen), len(others) - len(chosen)


def larger_is_closer(record: Retrieval) -> bool:
    """True if a larger score means closer: by the scores, where the matched text stands out, else by the metric's name.

    A name alone misleads: some stores give the cosine's distance under the name of the cosine.
    """
    scores = [one.score for one in _others(record)]
    if scores and record.matched.score > max(scores):
        return True
    if scores and record.matched.score < min(scores):
        return False
    name = (record.metric or "").casefold()
    return not any(part in name for part in _DISTANCES)


def _others(record: Retrieval) -> list[Matched]:
    """Stores that return the best k have the matched text among them."""
    matched = record.matched
    return [one for one in record.candidates if (one.id, one.text) != (matched.id, matched.text)]


def has_words(text: str) -> bool:
    """True if the text holds a letter or a digit: anything to compare."""
    return any(character.isalnum() for character in text)
