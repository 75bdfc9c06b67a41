"""The labelling checker: every record's label is put to the evaluator-verifier protocol against its subject."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.draws import seed_of
from checkers.labelling.bounds import lie_bound, paper_lie_bound
from checkers.labelling.challenges import Encodings, Verifier
from checkers.labelling.distance import DISTANCES
from checkers.labelling.evaluators.candidates import Candidates
from checkers.labelling.evaluators.llm import LLMEvaluator
from checkers.labelling.examples import load_examples
from checkers.labelling.kary import Problem, load_problem, play_all
from checkers.labelling.protocol import EvaluatorFailed, Game
from checkers.labelling.questions import Example, Questions
from checkers.labelling.reporting import reason_of, run_of
from checkers.labelling.rubric import OracleJudge
from checkers.labelling.settings import LabellingSettings
from checkers.labelling.values import same_label, shown
from checkers.oracle.protocol import Oracle
from schemas import Labelling, LabellingEvidence


@dataclass(frozen=True, slots=True)
class _Prepared:
    problem: Problem
    examples: tuple[Example, ...]
    candidates: Candidates | None


class LabellingChecker(Checker[LabellingSettings]):
    """Decides whether the subject that gave a label can show that it knows why."""

    name = "labelling"

    def __init__(self, settings: LabellingSettings, models: Models) -> None:
        """Raises ValueError (as RubricError, ExamplesError, TemplateError) if a file of the settings is wrong."""
        super().__init__(settings, models)
        self._questions = Questions(settings.prompts)
        unknown = sorted(settings.examples.keys() - settings.rubrics.keys())
        if unknown:
            raise ValueError(f"labelling.examples.{unknown[0]}: there is no labelling.rubrics.{unknown[0]}")
        self._prepared = {name: self._prepare(name, paths) for name, paths in settings.rubrics.items()}

    def fingerprint(self) -> JsonValue:
        """The versions of rubrics, examples and prompts."""
        known: dict[str, JsonValue] = {
            name: [list(one.problem.versions), _digest(one.examples)] for name, one in self._prepared.items()
        }
        return [known, dict(self._questions.versions)]

    async def decide(self, record: Labelling) -> Decision:
        """Every round that was played; undecidable without a rubric, a subject, or usable answers."""
        prepared = self._prepared.get(record.rubric)
        if prepared is None:
            raise Undecidable("no_rubric", f"no rubric {record.rubric!r} is configured in labelling.rubrics")
        subject = self.subject(record)
        length = len(shown(record.datapoint))
        if length > self.settings.max_characters:
            allowed = self.settings.max_characters
            raise Undecidable("too_long", f"{length} characters; labelling.max_characters allows {allowed}")

        seed = seed_of(self.settings.seed, record.source, record.id)
        verifiers = [self._verifier(encodings) for encodings in self._encodings(prepared.problem)]
        evaluators = [self._evaluator(subject, verifier, prepared) for verifier in verifiers]
        try:
            games = await play_all(record.datapoint, evaluators, verifiers, seed=seed, rounds=self.settings.rounds)
        except EvaluatorFailed as error:
            raise Undecidable(error.cause, error.detail) from error
        return self._decision(record, prepared.problem, games, seed, sum(one.unparsable for one in evaluators))

    def _encodings(self, problem: Problem) -> list[Encodings]:
        judge = OracleJudge(self.judge, self._questions.criterion)
        return [Encodings(rubric, judge) for rubric in problem.rubrics]

    def _verifier(self, encodings: Encodings) -> Verifier:
        epsilon = self.settings.epsilon
        distance = None if epsilon is None else DISTANCES[self.settings.distance]
        return Verifier(encodings, distance=distance, epsilon=epsilon)

    def _evaluator(self, subject: Oracle, verifier: Verifier, prepared: _Prepared) -> LLMEvaluator:
        return LLMEvaluator(
            subject,
            verifier,
            self._questions,
            name=subject.name,
            strategy=self.settings.strategy,
            examples=prepared.examples,
            candidates=prepared.candidates,
        )

    def _decision(
        self, record: Labelling, problem: Problem, games: tuple[Game, ...], seed: str, unparsable: int
    ) -> Decision:
        revealed = problem.label([game.bit for game in games])
        succeeded = all(game.succeeded for game in games)
        contradicted = not same_label(record.label, revealed)
        accepted = succeeded and not (contradicted and self.settings.contradiction == "reject")
        bounded = self.settings.epsilon is None
        evidence = LabellingEvidence(
            rubric=record.rubric,
            datapoint=record.datapoint,
            claimed=record.label,
            revealed=revealed,
            succeeded=succeeded,
            contradicted=contradicted,
            rounds=self.settings.rounds,
            seed=seed,
            runs=tuple(run_of(rubric, game) for rubric, game in zip(problem.rubrics, games, strict=True)),
            paper_error_bound=paper_lie_bound(self.settings.rounds) if bounded else None,
            prompt_versions=self._questions.versions,
            unparsable=unparsable,
        )
        return Decision(
            accepted=accepted,
            reason=reason_of(evidence, known=problem.knows(record.label)),
            evidence=evidence,
            error_bound=lie_bound(self.settings.rounds) if bounded else None,
        )

    def _prepare(self, name: str, paths: Path | list[Path]) -> _Prepared:
        problem = load_problem(name, [paths] if isinstance(paths, Path) else paths)
        file = self.settings.examples.get(name)
        if file is None and self.settings.strategy == "pick":
            raise ValueError(
                f"labelling.strategy is 'pick', but labelling.examples.{name} is not set: nothing to pick from"
            )
        examples = load_examples(file) if file else ()
        return _Prepared(problem, examples, Candidates([one.x for one in examples]) if examples else None)


def _digest(examples: tuple[Example, ...]) -> str:
    return seed_of([[one.x, one.label] for one in examples])
