"""The labelling checker: every record's label is put to the evaluator-verifier protocol against its subject."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from checkers.checker import OPERATIONAL, Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.draws import seed_of
from checkers.labelling.evaluators import LLMEvaluator
from checkers.labelling.evidence import cut, reason_of
from checkers.labelling.protocol import Verifier, lie_bound, paper_lie_bound, play_all
from checkers.labelling.questions import Exemplar, LabellingPrompts, asking, load_examples
from checkers.labelling.rubric import Rubric, load_rubric, same_label, shown
from models.protocol import Judge
from schemas import Labelling, LabellingEvidence
from schemas.evidence import Label

_MOST_CHARACTERS = 20_000
"""A datapoint, as text or as JSON, stands in every question of every round."""
_LABELS = 20
"""Named of those that are allowed."""


class LabellingSettings(CheckerSettings):
    """The labelling checker: how the evaluator-verifier protocol is run, and under which rubrics."""

    rubrics: Annotated[dict[str, Path | Annotated[list[Path], Field(min_length=1, max_length=100)]], OPERATIONAL] = (
        Field(default_factory=dict)
    )
    """Rubric files, by the name that records use; for k labels a list of k - 1, each of one label against the rest."""
    examples: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of example datapoints, by the same names, a line `{"x": ..., "y": ..., "reasons": [...]}` each; `y` (the
    label) and `reasons` (a text a criterion) are optional. The subject is shown the first five."""
    strategy: Literal["generate", "pick"] = "generate"
    """The subject writes its own datapoint, or picks it from five examples of which at least one matches."""
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    """Challenges to pass; a lie passes all with a probability of at most (1/2)^rounds."""


class LabellingProblem:
    """The rules that datapoints are labelled by: a rubric for two labels, or k - 1 rubrics for k."""

    def __init__(self, name: str, rubrics: Sequence[Rubric], examples: Sequence[Exemplar] = ()) -> None:
        """`examples` are shown to a subject, which may pick from them; raises ValueError if two labels are the same."""
        self.rubrics = rubrics
        self.examples = examples
        self.labels = (*(rubric.labels[1] for rubric in rubrics), rubrics[-1].labels[0])
        """What the bit 1 of each rubric stands for, and what the bit 0 of the last one does."""
        for index, label in enumerate(self.labels):
            if any(same_label(label, other) for other in self.labels[:index]):
                allowed = "each rubric's label for 1, and the last one's label for 0, must differ"
                raise ValueError(f"{name}: the label {label!r} has two meanings; {allowed}")

    def label(self, bits: Sequence[int]) -> Label:
        """The label that the games' bits come to: the first that was chosen against the rest, else the last."""
        return self.labels[next((index for index, bit in enumerate(bits) if bit), -1)]

    def require(self, label: Label, rubric: str) -> None:
        """Raise Undecidable if `label` is none of the labels; `rubric` is the user's name for the problem."""
        if not any(same_label(label, known) for known in self.labels):
            allowed = ", ".join(map(cut, self.labels[:_LABELS]))
            detail = f"the rubric {rubric!r} does not know the label {cut(label)!r}; allowed are {allowed}"
            raise Undecidable("unknown_label", detail)

    def verifiers(self, judge: Judge) -> list[Verifier]:
        """One a rubric, for one datapoint: each criterion is asked about once."""
        holds = asking(judge)
        return [Verifier(rubric, holds) for rubric in self.rubrics]


class LabellingChecker(Checker[LabellingSettings]):
    """Decides whether the subject that gave a label can show that it knows why."""

    name = "labelling"
    version = "3"

    def __init__(self, settings: LabellingSettings, models: Models) -> None:
        """Raises ValueError if a file of the settings is wrong."""
        super().__init__(settings, models)
        self.prompts = LabellingPrompts()
        if unknown := sorted(settings.examples.keys() - settings.rubrics.keys()):
            raise ValueError(f"labelling.examples.{unknown[0]}: there is no labelling.rubrics.{unknown[0]}")
        self.problems = {name: self._problem(name, paths) for name, paths in settings.rubrics.items()}
        """By the names of the settings."""

    def _problem(self, name: str, paths: Path | list[Path]) -> LabellingProblem:
        rubrics = [load_rubric(path) for path in ([paths] if isinstance(paths, Path) else paths)]
        file = self.settings.examples.get(name)
        if file is None and self.settings.strategy == "pick":
            raise ValueError(f"labelling.strategy is 'pick', which needs labelling.examples.{name}")
        return LabellingProblem(name, rubrics, load_examples(file) if file else ())

    def fingerprint(self) -> JsonValue:
        """The versions of rubrics, examples and prompts."""
        known: dict[str, JsonValue] = {}
        for name, one in self.problems.items():
            examples = seed_of([[example.x, example.label, list(example.reasons)] for example in one.examples])
            known[name] = [[rubric.version for rubric in one.rubrics], examples]
        return [known, dict(self.prompts.versions)]

    async def decide(self, record: Labelling) -> Decision:
        """Every round that was played; undecidable without a known label, a subject, or usable answers."""
        problem = self.problems.get(record.rubric)
        if problem is None:
            raise Undecidable("no_rubric", f"no rubric {record.rubric!r} is configured in labelling.rubrics")
        problem.require(record.label, record.rubric)
        subject = self.subject(record)
        length = len(shown(record.datapoint))
        if length > _MOST_CHARACTERS:
            raise Undecidable("too_long", f"{length} characters; at most {_MOST_CHARACTERS} are put to the challenges")
        verifiers, examples = problem.verifiers(self.judge), problem.examples
        pool = [one.x for one in examples] if self.settings.strategy == "pick" else []
        players = [
            LLMEvaluator(subject, one, self.prompts, examples=examples, pool=pool, under=record.prompt)
            for one in verifiers
        ]
        seed, rounds = seed_of(record.source, record.id), self.settings.rounds
        evaluators = [one.propose for one in players]
        games = await play_all(record.datapoint, evaluators, verifiers, seed=seed, rounds=rounds)
        revealed = problem.label([game.bit for game in games])
        succeeded, unfounded = all(game.succeeded for game in games), any(game.unfounded for game in games)
        contradicted = not same_label(record.label, revealed)
        accepted = succeeded and not (contradicted or unfounded)
        evidence = LabellingEvidence(
            rubric=record.rubric,
            datapoint=record.datapoint,
            claimed=record.label,
            revealed=revealed,
            succeeded=succeeded,
            contradicted=contradicted,
            unfounded=unfounded,
            rounds=rounds,
            seed=seed,
            runs=tuple(game.run for game in games),
            paper_error_bound=paper_lie_bound(rounds) if accepted else None,
            prompt_versions=self.prompts.versions,
            unparsable=sum(one.unparsable for one in players),
        )
        bound = lie_bound(rounds) if accepted else None
        return Decision(accepted=accepted, reason=reason_of(evidence), evidence=evidence, error_bound=bound)
