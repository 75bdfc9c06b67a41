"""Label sets of any size: k labels are k - 1 games of one label against the rest (paper, appendix C.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from checkers.labelling.challenges import Verifier
from checkers.labelling.examples import Exemplar
from checkers.labelling.protocol import ROUNDS, Game, LabelEvaluator, play
from checkers.labelling.rubric import CriterionJudge, Rubric, no_judge
from checkers.labelling.values import same_label
from models.concurrent import gather_or_cancel
from schemas.evidence import Label


@dataclass(frozen=True)
class LabellingProblem:
    """The rules that datapoints are labelled by: a rubric for two labels, or k - 1 rubrics for k.

    The first label is what the bit 1 of the first rubric stands for, and so on; the last one is what the bit 0 of the
    last rubric stands for.
    """

    name: str
    rubrics: tuple[Rubric, ...]
    examples: tuple[Exemplar, ...] = ()
    """The datapoints that a subject is shown, and may pick from."""

    def __post_init__(self) -> None:
        """Raises ValueError if there is no rubric, or two labels are the same."""
        if not self.rubrics:
            raise ValueError(f"{self.name}: no rubric; k labels need k - 1 of them")
        for index, label in enumerate(self.labels):
            if any(same_label(label, other) for other in self.labels[:index]):
                raise ValueError(
                    f"{self.name}: the label {label!r} stands for two things; each rubric's label for 1, "
                    "and the last one's label for 0, must be labels of their own"
                )

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return (*(rubric.labels[1] for rubric in self.rubrics), self.rubrics[-1].labels[0])

    @cached_property
    def plain(self) -> bool:
        """True if a criterion is in plain language, so that a judge is needed."""
        return any(rubric.plain for rubric in self.rubrics)

    def label(self, bits: Sequence[int]) -> Label:
        """The label that the games' bits come to: the first that was chosen against the rest, else the last."""
        chosen = next((index for index, bit in enumerate(bits) if bit), len(self.rubrics))
        return self.labels[chosen]

    def knows(self, label: Label) -> bool:
        """True if `label` is one of the labels."""
        return any(same_label(label, known) for known in self.labels)

    def verifiers(self, judge: CriterionJudge) -> tuple[Verifier, ...]:
        """One a rubric, for one datapoint; those of rules need no judge and serve all datapoints."""
        return tuple(Verifier(one, judge) for one in self.rubrics) if self.plain else self._of_rules

    @cached_property
    def _of_rules(self) -> tuple[Verifier, ...]:
        return tuple(Verifier(one, no_judge) for one in self.rubrics)


async def play_all(
    x: JsonValue,
    evaluators: Iterable[LabelEvaluator],
    verifiers: Sequence[Verifier],
    *,
    seed: str,
    rounds: int = ROUNDS,
) -> tuple[Game, ...]:
    """A game for each rubric, all at once; raises what `play` raises.

    An evaluator that lies does so in at least one game, so the bound on lies is that of one game.
    """
    seeds = [seed] if len(verifiers) == 1 else [f"{seed}/{number}" for number in range(1, len(verifiers) + 1)]
    games = (
        play(x, evaluator, verifier, seed=one, rounds=rounds)
        for evaluator, verifier, one in zip(evaluators, verifiers, seeds, strict=True)
    )
    return tuple(await gather_or_cancel(games))
