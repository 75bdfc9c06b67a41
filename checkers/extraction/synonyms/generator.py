"""syn: a replacement for each entity of a sentence, from pools or from a model (oracle-checker, appendix A.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from checkers.extraction.mentions import Located, Unreplaceable
from checkers.extraction.synonyms.classes import EntityClass
from checkers.extraction.synonyms.forms import in_form_of, without_possessive
from checkers.extraction.synonyms.guards import CandidateFault, fault_of
from checkers.extraction.synonyms.naming import Naming, naming_of
from checkers.extraction.synonyms.pools import MOST, pool_of
from checkers.extraction.synonyms.questions import CandidatesReply, NamedReply, SynonymPrompts
from checkers.extraction.synonyms.votes import ranking
from models.concurrent import gather_or_cancel
from models.protocol import Oracle, Question

Source = Literal["pool", "model"]

NAMED_RUNS = 11
"""Answers that vote on named or normal, as in the paper."""
CANDIDATE_RUNS = 7
"""Answers that vote on the replacement, as in the paper."""

_MOST_REJECTED = 10


@dataclass(frozen=True, slots=True)
class Replacement:
    """What takes an entity's place."""

    entity: str
    text: str
    named: bool
    """True if it is another name, False if it is a synonym."""
    entity_class: EntityClass | None
    """The class of both, if it is known."""
    source: Source


class NoReplacementReason(StrEnum):
    """Why an entity has no replacement."""

    NOT_ASKED = "not_asked"
    """No kept library has one, and there is no model to ask."""
    NO_ANSWER = "no_answer"
    """The model gave no answer that could be used."""
    ALL_REJECTED = "all_rejected"
    """Every candidate has a fault."""


@dataclass(frozen=True, slots=True)
class NoReplacement:
    """An entity for which nothing was found."""

    entity: str
    reason: NoReplacementReason
    rejected: tuple[tuple[str, CandidateFault], ...] = ()
    """Candidates with their faults: the first ten."""


@dataclass(slots=True)
class _Search:
    """An entity while its replacement is looked for."""

    entity: str
    naming: Naming
    found: Replacement | None = None
    rejected: dict[str, CandidateFault] = field(default_factory=dict)
    reason: NoReplacementReason = NoReplacementReason.NOT_ASKED
    """Counts if nothing is found."""

    @property
    def result(self) -> Replacement | NoReplacement:
        if self.found is not None:
            return self.found
        return NoReplacement(self.entity, self.reason, tuple(self.rejected.items()))


class SynonymGenerator:
    """Finds replacements for the entities of a sentence.

    Names are replaced by others of their class: from kept libraries where they have the class, else from a model. What
    is no name is replaced by a synonym, from the model. Candidates with a fault are passed over.
    """

    def __init__(self, model: Oracle | None, prompts: SynonymPrompts, *, seed: str) -> None:
        """Without a `model`, rules and libraries have to do; `seed` decides what is drawn."""
        self._model = model
        self._prompts = prompts
        self._seed = seed

    async def replacements(self, located: Located) -> tuple[Replacement | NoReplacement, ...]:
        """For each of `located.entities` its replacement, or why it has none.

        No replacement is a part of another one, nor of an entity of the sentence.

        Raises:
            OracleUnavailable: the model's endpoint cannot be reached; ask again later.
            OracleFailed: a question gets no answer at all.
        """
        searches = self._searched_in_pools(located)
        model = self._model
        if model is not None:
            waiting = [one for one in searches if one.found is None]
            proposed = await gather_or_cancel(self._proposals(one, searches, located, model) for one in waiting)
            # One after the other: what one entity gets, another cannot have.
            for one, (named, candidates) in zip(waiting, proposed, strict=True):
                self._choose(one, candidates, searches, located, named=named, source="model")
        return tuple(one.result for one in searches)

    def most_questions(self, located: Located) -> list[tuple[Question[Any], int]]:
        """The questions that a model would be asked, and how many answers to each at most."""
        questions: list[tuple[Question[Any], int]] = []
        for one in self._searched_in_pools(located):
            if one.found is None:
                if one.naming.named is None:
                    questions.append((self._whether_named(one, located), NAMED_RUNS))
                named = one.naming.named is not False
                questions.append((self._for_candidates(one, located, named=named), CANDIDATE_RUNS))
        return questions

    def _searched_in_pools(self, located: Located) -> list[_Search]:
        searches = [_Search(entity, naming_of(located, at)) for at, entity in enumerate(located.entities)]
        for one in searches:
            if one.naming.named:
                bare, _ = without_possessive(one.entity)
                drawn = pool_of(bare, one.naming.entity_class, self._seed)
                self._choose(one, drawn, searches, located, named=True, source="pool")
        return searches

    async def _proposals(
        self, one: _Search, searches: Sequence[_Search], located: Located, model: Oracle
    ) -> tuple[bool, list[str]]:
        """Whether the entity is a name, and the candidates for it, the most voted for first."""
        one.reason = NoReplacementReason.NO_ANSWER
        named = one.naming.named
        if named is None:
            votes = await ranking(model, self._whether_named(one, located), NAMED_RUNS, lambda reply: [reply.answer])
            named = votes[:1] == ["named"]
            if not votes:
                return named, []
        others = _others(one, searches, located)

        def fit(reply: CandidatesReply) -> list[str]:
            one.reason = NoReplacementReason.ALL_REJECTED
            made = (in_form_of(candidate, one.entity, named=named) for candidate in reply.candidates[:MOST])
            return [text for text in made if self._is_fit(one, text, others, located, named=named)]

        return named, await ranking(model, self._for_candidates(one, located, named=named), CANDIDATE_RUNS, fit)

    def _choose(
        self,
        one: _Search,
        candidates: Iterable[str],
        searches: Sequence[_Search],
        located: Located,
        *,
        named: bool,
        source: Source,
    ) -> None:
        others = _others(one, searches, located)
        for candidate in candidates:
            text = in_form_of(candidate, one.entity, named=named)
            if self._is_fit(one, text, others, located, named=named):
                one.found = Replacement(one.entity, text, named, one.naming.entity_class, source)
                return

    def _is_fit(self, one: _Search, text: str, others: Sequence[str], located: Located, *, named: bool) -> bool:
        fault = fault_of(text, one.entity, located, others, named=named, kind=one.naming.entity_class)
        if fault is not None and len(one.rejected) < _MOST_REJECTED:
            one.rejected[text] = fault
        return fault is None

    def _whether_named(self, one: _Search, located: Located) -> Question[NamedReply]:
        return self._prompts.named(one.entity, located.text)

    def _for_candidates(self, one: _Search, located: Located, *, named: bool) -> Question[CandidatesReply]:
        if named:
            return self._prompts.names(one.entity, located.text, one.naming.entity_class)
        return self._prompts.synonyms(one.entity, located.text)


def _others(one: _Search, searches: Sequence[_Search], located: Located) -> list[str]:
    """The other entities of the sentence, and what replaces them."""
    others = [entity for entity, reason in located.unreplaceable if reason is not Unreplaceable.REPEATED]
    for other in searches:
        if other is not one:
            others.append(other.entity)
            if other.found is not None:
                others.append(other.found.text)
    return others
