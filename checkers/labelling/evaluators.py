"""A model as evaluator: it labels, and makes an x'."""

from collections.abc import Sequence
from itertools import islice
from random import Random

from pydantic import JsonValue

from checkers.checker import Undecidable
from checkers.labelling.protocol import Proposal, Verifier, is_echo
from checkers.labelling.questions import Exemplar, LabellingPrompts, datapoint_of
from checkers.labelling.rubric import Bits, same_label
from models.protocol import Model, ModelFailed, Question, ReplyT
from models.wording import on_a_line
from models.work import both

_ASKED_AT_MOST = 3
"""Each time with a repair turn: one call and up to five retries, as in the paper."""

_EXEMPLARS, _CANDIDATES = 5, 5
_MOST_TRIED = 1000
_MOST_TRIED_BY_JUDGE = 50
"""With plain-language criteria each that is tried costs a question a criterion, once."""


class LLMEvaluator:
    """A model before one datapoint: asked for the label once, for x' every round; sigma is shown for labelling only."""

    def __init__(
        self,
        model: Model,
        verifier: Verifier,
        prompts: LabellingPrompts,
        *,
        examples: Sequence[Exemplar] = (),
        pool: Sequence[JsonValue] = (),
        under: str | None = None,
    ) -> None:
        """The first five `examples` are shown; it picks x' from `pool`, or makes one where that is empty."""
        self.unparsable = 0
        """Retries because an answer could not be read."""
        self._model = model
        self._verifier = verifier
        self._prompts = prompts
        self._pool = pool
        self._examples = examples[:_EXEMPLARS]
        self._under = under
        self._label: tuple[int, Bits] | None = None

    async def propose(self, x: JsonValue, earlier: Sequence[JsonValue], draw: Random) -> Proposal:
        """The label of x, and a datapoint like it; raises Undecidable if no answer can be used, ModelUnavailable."""
        if self._pool:
            # What is picked does not depend on the label: both are asked at the same time.
            (bit, holds), similar = await both(self._labelled(x), self._picked(x, draw))
            return Proposal(similar=similar, bit=bit, holds=holds)
        bit, holds = await self._labelled(x)
        rubric = self._verifier.rubric
        question = self._prompts.generate(rubric, x, bit, self._examples, earlier, under=self._under)
        return Proposal(similar=datapoint_of(await self._asked(question), x), bit=bit, holds=holds)

    async def _labelled(self, x: JsonValue) -> tuple[int, Bits]:
        if self._label is None:
            rubric = self._verifier.rubric
            reply = await self._asked(self._prompts.label(rubric, x, self._examples, under=self._under))
            holds = tuple(int(one.holds) for one in reply.reasons)
            self._label = int(same_label(reply.label, rubric.labels[1])), holds
        return self._label

    async def _picked(self, x: JsonValue, draw: Random) -> JsonValue:
        candidates = await _drawn_candidates(self._pool, x, self._verifier, draw)
        question = self._prompts.pick(self._verifier.rubric, x, candidates, under=self._under)
        return candidates[(await self._asked(question)).choice - 1]

    async def _asked(self, question: Question[ReplyT]) -> ReplyT:
        for asked in range(1, _ASKED_AT_MOST + 1):
            try:
                return (await self._model.ask(question)).reply
            except ModelFailed as error:
                if error.cause != "judge_unusable":
                    raise Undecidable(error.cause_of_subject, f"{self._model.name}: {error.detail}") from error
                said = f"gave no usable answer, asked {asked} times: {on_a_line(error.detail, 300)}"
                self.unparsable += asked < _ASKED_AT_MOST
        raise Undecidable("subject_unusable", f"{self._model.name} {said}")


async def _drawn_candidates(
    pool: Sequence[JsonValue], x: JsonValue, verifier: Verifier, draw: Random
) -> list[JsonValue]:
    """Five datapoints to pick from in random order, at least one like `x`, none x itself; raises Undecidable."""
    most = _MOST_TRIED_BY_JUDGE if verifier.rubric.plain else _MOST_TRIED
    drawn = draw.sample(pool, min(len(pool), most + _CANDIDATES))
    candidates = (one for one in drawn if not is_echo(x, one))
    others: list[JsonValue] = []
    for candidate in islice(candidates, most):
        if await verifier.are_similar(x, candidate):
            others.extend(islice(candidates, _CANDIDATES - 1))
            shown = [candidate, *others[: _CANDIDATES - 1]]
            draw.shuffle(shown)
            return shown
        others.append(candidate)
    raise Undecidable("no_candidate", f"none of {len(others)} datapoints to pick from is like this one")
