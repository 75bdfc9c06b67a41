"""The labelling checker: every record's label is put to the evaluator-verifier protocol against its subject."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from checkers.checker import OPERATIONAL, Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.draws import seed_of
from checkers.labelling.evaluators import LLMEvaluator
from checkers.labelling.evidence import reason_of, run_of, unknown_label
from checkers.labelling.protocol import LabellingProblem, Verifier, lie_bound, paper_lie_bound, play_all
from checkers.labelling.questions import CriterionJudge, LabellingPrompts, load_examples
from checkers.labelling.rubric import load_rubric, same_label, shown
from models.protocol import Model
from schemas import Labelling, LabellingEvidence

_MOST_CHARACTERS = 20_000
"""A datapoint, as text or as JSON, stands in every question of every round."""


class LabellingSettings(CheckerSettings):
    """The labelling checker: how the evaluator-verifier protocol is run, and under which rubrics."""

    rubrics: Annotated[dict[str, Path | Annotated[list[Path], Field(min_length=1, max_length=100)]], OPERATIONAL] = (
        Field(default_factory=dict)
    )
    """Rubric files, by the name that records use. A rubric of k labels is a list of k - 1 files, each of one label
    against the rest."""
    examples: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of example datapoints, by the same names: a line `{"x": ..., "y": ..., "reasons": [...]}` for each, `y`
    (the label) and `reasons` (a text a criterion) if they are known. The subject is shown the first five and may pick
    from all."""
    strategy: Literal["generate", "pick"] = "generate"
    """The way in which the subject makes its own datapoint: by writing one, or by picking one of five examples of which
    at least one matches."""
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    """Challenges to pass. A lie passes all of them with a probability of at most (1/2)^rounds."""


class LabellingChecker(Checker[LabellingSettings]):
    """Decides whether the subject that gave a label can show that it knows why."""

    name = "labelling"
    version = "3"

    def __init__(self, settings: LabellingSettings, models: Models) -> None:
        """Raises ValueError (as RubricError) if a file of the settings is wrong."""
        super().__init__(settings, models)
        self.prompts = LabellingPrompts()
        unknown = sorted(settings.examples.keys() - settings.rubrics.keys())
        if unknown:
            raise ValueError(f"labelling.examples.{unknown[0]}: there is no labelling.rubrics.{unknown[0]}")
        self.problems = {name: self._problem(name, paths) for name, paths in settings.rubrics.items()}
        """By the names of the settings."""

    def fingerprint(self) -> JsonValue:
        """The versions of rubrics, examples and prompts."""
        known: dict[str, JsonValue] = {}
        for name, one in self.problems.items():
            examples = seed_of([[example.x, example.label, list(example.reasons)] for example in one.examples])
            known[name] = [[rubric.version for rubric in one.rubrics], examples]
        return [known, dict(self.prompts.versions)]

    def _asked_about(self, record: Labelling) -> tuple[LabellingProblem, Model]:
        """The problem that a record belongs to, and its subject.

        Raises:
            Undecidable: something is missing or too long, or the rubric does not know the record's label.
        """
        problem = self.problems.get(record.rubric)
        if problem is None:
            raise Undecidable("no_rubric", f"no rubric {record.rubric!r} is configured in labelling.rubrics")
        if not problem.knows(record.label):
            raise Undecidable("unknown_label", unknown_label(record.rubric, record.label, problem))
        subject = self.subject(record)
        length = len(shown(record.datapoint))
        if length > _MOST_CHARACTERS:
            raise Undecidable("too_long", f"{length} characters; at most {_MOST_CHARACTERS} are put to the challenges")
        return problem, subject

    async def decide(self, record: Labelling) -> Decision:
        """Every round that was played; undecidable without a known label, a subject, or usable answers."""
        problem, subject = self._asked_about(record)
        verifiers = self.verifiers(problem)
        pool = [one.x for one in problem.examples]
        strategy, examples, prompts = self.settings.strategy, problem.examples, self.prompts
        evaluators = [
            LLMEvaluator(subject, one, prompts, strategy=strategy, examples=examples, pool=pool, under=record.prompt)
            for one in verifiers
        ]
        seed, rounds = seed_of(record.source, record.id), self.settings.rounds
        games = await play_all(record.datapoint, evaluators, verifiers, seed=seed, rounds=rounds)
        revealed = problem.label([game.bit for game in games])
        succeeded = all(game.succeeded for game in games)
        contradicted = not same_label(record.label, revealed)
        unfounded = any(game.unfounded for game in games)
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
            runs=tuple(run_of(rubric, game) for rubric, game in zip(problem.rubrics, games, strict=True)),
            paper_error_bound=paper_lie_bound(rounds) if accepted else None,
            prompt_versions=self.prompts.versions,
            unparsable=sum(one.unparsable for one in evaluators),
        )
        bound = lie_bound(rounds) if accepted else None
        return Decision(accepted=accepted, reason=reason_of(evidence), evidence=evidence, error_bound=bound)

    def verifiers(self, problem: LabellingProblem) -> tuple[Verifier, ...]:
        """One for each rubric of the problem, for one datapoint."""
        return problem.verifiers(CriterionJudge(self.judge))

    def _problem(self, name: str, paths: Path | list[Path]) -> LabellingProblem:
        rubrics = tuple(load_rubric(path) for path in ([paths] if isinstance(paths, Path) else paths))
        file = self.settings.examples.get(name)
        if file is None and self.settings.strategy == "pick":
            raise ValueError(f"labelling.strategy is 'pick', which needs labelling.examples.{name}")
        return LabellingProblem(name, rubrics, load_examples(file) if file else ())
