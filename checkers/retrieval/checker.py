"""The retrieval checker: a store's hit, and what else was near, are matched with the query as texts, both ways."""

import asyncio

from checkers.deciding import Decision, Undecidable, decide
from checkers.ledger import Ledger
from checkers.oracle.cache import CachedOracle
from checkers.oracle.protocol import Oracle
from checkers.oracle.settings import CacheSettings
from checkers.retrieval.matching.candidates import Candidates, candidates_of, said
from checkers.retrieval.matching.comparison import NEEDED, Comparison
from checkers.retrieval.matching.cross_encoder import CrossEncoderOracle
from checkers.retrieval.matching.matcher import Matcher
from checkers.retrieval.questions import Questions
from checkers.retrieval.reporting import match_of, reason_of
from checkers.retrieval.settings import RetrievalSettings
from checkers.retrieval.tagging import tag
from schemas import Envelope, Retrieval, RetrievalEvidence, TextMatch, Verdict, digest


class RetrievalChecker:
    """Decides whether the text that a store matched with a query is one that the query needs."""

    name = "retrieval"
    version = "1"
    kinds = frozenset({"retrieval"})

    def __init__(self, settings: RetrievalSettings, judge: Oracle) -> None:
        """Raises ValueError (as TemplateError) where one of the settings' own templates cannot be used."""
        self._settings = settings
        self._own = CrossEncoderOracle(settings.cross_encoder) if settings.cross_encoder else None
        self._judge = CachedOracle(self._own, CacheSettings()) if self._own else judge
        self._questions = Questions(settings.prompts)
        self._matcher = Matcher(self._questions)
        weighty = settings.model_dump(mode="json", exclude={"deadline_seconds", "prompts"})
        self.config_digest = digest([self.version, weighty, self._questions.versions, self._judge.name])[:16]

    async def check(self, record: Envelope) -> Verdict:
        """A verdict with both directions of every text; abstains where there is nothing to compare, or no usable judge.

        Raises:
            OracleUnavailable: the judge's endpoint is down, or the cross-encoder still being loaded.
        """

        async def method(ledger: Ledger) -> Decision:
            if not isinstance(record, Retrieval):
                raise TypeError(f"the retrieval checker takes retrievals, not {type(record).__name__}")
            return await self._decide(record, ledger)

        return await decide(self, record, method, oracle=self._judge, deadline_seconds=self._settings.deadline_seconds)

    async def close(self) -> None:
        """Release the cross-encoder's thread; the judge is closed by whoever made it."""
        if self._own is not None:
            await self._own.close()

    async def _decide(self, record: Retrieval, ledger: Ledger) -> Decision:
        for what, text in (("query", record.query), ("matched text", record.matched.text)):
            if not said(text):
                raise Undecidable("empty_text", f"the {what} holds no word")
        length = len(record.query) + len(record.matched.text)
        left = self._settings.max_characters - length
        if left < 0:
            raise Undecidable(
                "too_long", f"{length} characters; retrieval.max_characters allows {self._settings.max_characters}"
            )
        candidates = candidates_of(record, most=self._settings.max_candidates, characters=left)
        texts = [record.matched.text, *(one.text for one in candidates.chosen)]
        compared = await self._matcher.compare(ledger, record.store, record.query, texts)
        return await self._decision(record, candidates, compared)

    async def _decision(self, record: Retrieval, candidates: Candidates, compared: tuple[Comparison, ...]) -> Decision:
        found, *others = [
            match_of(one, comparison, comparison.score(record.store))
            for one, comparison in zip((record.matched, *candidates.chosen), compared, strict=True)
        ]
        accepted = found.score >= self._settings.threshold
        # On a thread: the first time a lexicon is read, and texts may be long.
        tagged = None if accepted else await asyncio.to_thread(tag, record.query, record.matched.text)
        evidence = RetrievalEvidence(
            store=record.store,
            metric=record.metric,
            needs=NEEDED[record.store],
            query=record.query,
            matched=found,
            relation=tagged.relation if tagged else None,
            differences=tagged.differences if tagged else (),
            candidates=tuple(others),
            left_out=candidates.left_out,
            better=self._better(found, others),
            threshold=self._settings.threshold,
            prompt_versions={record.store: self._questions.versions[record.store]},
        )
        return Decision(
            outcome="accept" if accepted else "reject",
            score=found.score,
            reason=reason_of(evidence, accepted=accepted),
            evidence=evidence,
        )

    def _better(self, matched: TextMatch, others: list[TextMatch]) -> TextMatch | None:
        """What text matching would have chosen instead: of equals the closest, and nothing below the threshold."""
        best = max([matched, *others], key=lambda one: one.score)
        return None if best is matched or best.score < self._settings.threshold else best
