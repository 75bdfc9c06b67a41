"""The labelling checker: every record's label is put to the evaluator-verifier protocol against its subject."""

from dataclasses import dataclass
from pathlib import Path

from checkers.checker import Models
from checkers.deciding import Decision, Undecidable, decide
from checkers.draws import seed_of
from checkers.labelling.asking import JudgeAsking
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
from checkers.labelling.settings import LabellingSettings
from checkers.labelling.values import same_label, shown
from checkers.ledger import Ledger
from checkers.oracle.protocol import Oracle
from schemas import Envelope, Labelling, LabellingEvidence, Verdict, digest


@dataclass(frozen=True, slots=True)
class _Prepared:
    problem: Problem
    examples: tuple[Example, ...]
    candidates: Candidates | None


class LabellingChecker:
    """Decides whether the subject that gave a label can show that it knows why."""

    name = "labelling"
    version = "1"
    kinds = frozenset({"labelling"})

    def __init__(self, settings: LabellingSettings, models: Models) -> None:
        """Raises ValueError (as RubricError, ExamplesError, TemplateError) where a file of the settings is wrong."""
        self._settings = settings
        self._models = models
        self._questions = Questions(settings.prompts)
        unknown = sorted(settings.examples.keys() - settings.rubrics.keys())
        if unknown:
            raise ValueError(f"labelling.examples.{unknown[0]}: there is no labelling.rubrics.{unknown[0]}")
        self._prepared = {name: self._prepare(name, paths) for name, paths in settings.rubrics.items()}
        weighty = settings.model_dump(
            mode="json", exclude={"deadline_seconds", "max_characters", "prompts", "rubrics", "examples"}
        )
        known = {name: [one.problem.versions, _digest(one.examples)] for name, one in self._prepared.items()}
        self.config_digest = digest([self.version, weighty, known, self._questions.versions, models.judge.name])[:16]

    async def check(self, record: Envelope) -> Verdict:
        """A verdict with every round that was played; abstains without a rubric, a subject, or usable answers.

        Raises:
            OracleUnavailable: the subject's endpoint is down, or the judge's.
        """

        async def method(ledger: Ledger) -> Decision:
            if not isinstance(record, Labelling):
                raise TypeError(f"the labelling checker takes labellings, not {type(record).__name__}")
            return await self._decide(record, ledger)

        return await decide(
            self, record, method, oracle=self._models.judge, deadline_seconds=self._settings.deadline_seconds
        )

    async def _decide(self, record: Labelling, ledger: Ledger) -> Decision:
        prepared = self._prepared.get(record.rubric)
        if prepared is None:
            raise Undecidable("no_rubric", f"no rubric {record.rubric!r} is configured in labelling.rubrics")
        subject = self._models.subjects.get(record.model)
        if subject is None:
            raise Undecidable(
                "no_subject", f"no subject {record.model!r} is configured in subjects, so none can be asked"
            )
        length = len(shown(record.datapoint))
        if length > self._settings.max_characters:
            allowed = self._settings.max_characters
            raise Undecidable("too_long", f"{length} characters; labelling.max_characters allows {allowed}")

        seed = seed_of(self._settings.seed, record.source, record.id)
        verifiers = [self._verifier(encodings) for encodings in self._encodings(prepared.problem, ledger)]
        bill = Ledger(subject)
        evaluators = [self._evaluator(bill, subject, verifier, prepared) for verifier in verifiers]
        try:
            games = await play_all(record.datapoint, evaluators, verifiers, seed=seed, rounds=self._settings.rounds)
        except EvaluatorFailed as error:
            raise Undecidable(error.cause, error.detail) from error
        finally:
            ledger.usage += bill.usage
        return self._decision(record, prepared.problem, games, seed, sum(one.unparsable for one in evaluators))

    def _encodings(self, problem: Problem, ledger: Ledger) -> list[Encodings]:
        asking = JudgeAsking(ledger, self._questions.criterion)
        return [Encodings(rubric, asking) for rubric in problem.rubrics]

    def _verifier(self, encodings: Encodings) -> Verifier:
        epsilon = self._settings.epsilon
        distance = None if epsilon is None else DISTANCES[self._settings.distance]
        return Verifier(encodings, distance=distance, epsilon=epsilon)

    def _evaluator(self, bill: Ledger, subject: Oracle, verifier: Verifier, prepared: _Prepared) -> LLMEvaluator:
        return LLMEvaluator(
            bill,
            verifier,
            self._questions,
            name=subject.name,
            strategy=self._settings.strategy,
            examples=prepared.examples,
            candidates=prepared.candidates,
        )

    def _decision(
        self, record: Labelling, problem: Problem, games: tuple[Game, ...], seed: str, unparsable: int
    ) -> Decision:
        revealed = problem.label([game.bit for game in games])
        succeeded = all(game.succeeded for game in games)
        contradicted = not same_label(record.label, revealed)
        accepted = succeeded and not (contradicted and self._settings.contradiction == "reject")
        bounded = self._settings.epsilon is None
        evidence = LabellingEvidence(
            rubric=record.rubric,
            datapoint=record.datapoint,
            claimed=record.label,
            revealed=revealed,
            succeeded=succeeded,
            contradicted=contradicted,
            rounds=self._settings.rounds,
            seed=seed,
            runs=tuple(run_of(rubric, game) for rubric, game in zip(problem.rubrics, games, strict=True)),
            paper_error_bound=paper_lie_bound(self._settings.rounds) if bounded else None,
            prompt_versions=self._questions.versions,
            unparsable=unparsable,
        )
        return Decision(
            outcome="accept" if accepted else "reject",
            # One or nothing: the mean over records is then the success rate.
            score=float(accepted),
            reason=reason_of(evidence, known=problem.knows(record.label)),
            evidence=evidence,
            error_bound=lie_bound(self._settings.rounds) if bounded else None,
        )

    def _prepare(self, name: str, paths: Path | list[Path]) -> _Prepared:
        problem = load_problem(name, [paths] if isinstance(paths, Path) else paths)
        file = self._settings.examples.get(name)
        if file is None and self._settings.strategy == "pick":
            raise ValueError(
                f"labelling.strategy is 'pick', but labelling.examples.{name} is not set: nothing to pick from"
            )
        examples = load_examples(file) if file else ()
        return _Prepared(problem, examples, Candidates([one.x for one in examples]) if examples else None)


def _digest(examples: tuple[Example, ...]) -> str:
    return seed_of([[one.x, one.label] for one in examples])
