"""The retrieval checker: a store's hit, and what else was near, are matched with the query as texts."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.estimate import Estimate
from checkers.retrieval.candidates import candidates_of, has_words
from checkers.retrieval.explanation import reason_of
from checkers.retrieval.matching import NEEDED, QUESTION, TextMatcher, asks
from checkers.retrieval.settings import RetrievalSettings
from checkers.retrieval.tagging import tag
from models.meter import MeteredGrader
from models.worktime import compute
from schemas import Matched, Retrieval, RetrievalEvidence, TextMatch


class RetrievalChecker(Checker[RetrievalSettings]):
    """Decides whether the text that a store matched with a query is one that the query needs."""

    name = "retrieval"

    def __init__(self, settings: RetrievalSettings, models: Models) -> None:
        """Raises ValueError (as TemplateError) if one of the settings' own templates cannot be used."""
        self._own = _own_grader(settings.cross_encoder) if settings.cross_encoder else None
        super().__init__(settings, replace(models, judge=self._own or models.judge))
        self._matcher = TextMatcher(self.judge, settings.prompts)

    def fingerprint(self) -> JsonValue:
        return dict(self._matcher.prompt_versions)

    async def close(self) -> None:
        if self._own is not None:
            await self._own.close()

    def estimate(self, record: Retrieval) -> Estimate:
        """One question about all texts that differ from the query."""
        hits, _ = self._hits(record)
        texts = [hit.text for hit in hits]
        if asks(record.store, record.query):
            return Estimate(judge=self._matcher.estimate_answers(record.query, texts))
        return Estimate(judge=self._matcher.estimate(record.store, record.query, texts))

    def _hits(self, record: Retrieval) -> tuple[tuple[Matched, ...], int]:
        """The texts to compare, the matched one first, and how many candidates are left out.

        Raises:
            Undecidable: there is nothing to compare, or too much.
        """
        for what, text in (("query", record.query), ("matched text", record.matched.text)):
            if not has_words(text):
                raise Undecidable("empty_text", f"the {what} holds no word")
        length = len(record.query) + len(record.matched.text)
        left = self.settings.max_characters - length
        if left < 0:
            raise Undecidable(
                "too_long", f"{length} characters; retrieval.max_characters allows {self.settings.max_characters}"
            )
        candidates, left_out = candidates_of(record, most=self.settings.max_candidates, characters=left)
        return (record.matched, *candidates), left_out

    async def decide(self, record: Retrieval) -> Decision:
        """Both directions of every text, or if it answers the query; undecidable if there is nothing to compare."""
        hits, left_out = self._hits(record)
        is_question = asks(record.store, record.query)
        found, *others = await (self._answering(record, hits) if is_question else self._matching(record, hits))
        accepted = found.score >= self.settings.threshold
        # On a thread: the first time a lexicon is read, and texts may be long.
        tagged = None if accepted else await compute(tag, record.query, record.matched.text)
        template = QUESTION if is_question else record.store
        evidence = RetrievalEvidence(
            store=record.store,
            metric=record.metric,
            needs=NEEDED[record.store],
            query=record.query,
            is_question=is_question,
            matched=found,
            relation=tagged.relation if tagged else None,
            differences=tagged.differences if tagged else (),
            candidates=tuple(others),
            left_out=left_out,
            better=self._better(found, others),
            threshold=self.settings.threshold,
            prompt_versions={template: self._matcher.prompt_versions[template]},
        )
        reason = reason_of(evidence, accepted=accepted)
        return Decision(accepted=accepted, score=found.score, reason=reason, evidence=evidence)

    async def _matching(self, record: Retrieval, hits: Sequence[Matched]) -> list[TextMatch]:
        compared = await self._matcher.compare(record.store, record.query, [hit.text for hit in hits])
        return [
            TextMatch(
                id=hit.id,
                text=hit.text,
                vector_score=hit.score,
                score=directions.score(record.store),
                text_to_query=directions.text_to_query,
                query_to_text=directions.query_to_text,
            )
            for hit, directions in zip(hits, compared, strict=True)
        ]

    async def _answering(self, record: Retrieval, hits: Sequence[Matched]) -> list[TextMatch]:
        answers = await self._matcher.answers(record.query, [hit.text for hit in hits])
        return [
            TextMatch(id=hit.id, text=hit.text, vector_score=hit.score, score=float(found.score), text_to_query=found)
            for hit, found in zip(hits, answers, strict=True)
        ]

    def _better(self, matched: TextMatch, others: list[TextMatch]) -> TextMatch | None:
        """What text matching would have chosen instead: of equals the closest, and nothing below the threshold."""
        best = max([matched, *others], key=lambda one: one.score)
        return None if best is matched or best.score < self.settings.threshold else best


def _own_grader(cross_encoder: str) -> MeteredGrader:
    from checkers.retrieval.cross_encoder import cross_encoder_grader
    from models.build import built_grader

    return built_grader(cross_encoder_grader(cross_encoder))
