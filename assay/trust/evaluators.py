"""Who is put to the test: told on the command line, and made into evaluators."""

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import JsonValue

from checkers.labelling.challenges import Encodings, Verifier
from checkers.labelling.evaluators.candidates import Candidates
from checkers.labelling.evaluators.composed import Composed, FunctionEvaluator
from checkers.labelling.evaluators.llm import LLMEvaluator, Strategy
from checkers.labelling.evaluators.search import Lie, search, string_like
from checkers.labelling.evaluators.sklearn import SklearnLabeller, decimal_feature
from checkers.labelling.examples import load_examples
from checkers.labelling.kary import Problem
from checkers.labelling.protocol import Evaluator
from checkers.labelling.questions import Example, Questions
from checkers.labelling.rubric import NoJudge, Rubric
from checkers.labelling.values import same_label
from checkers.oracle.protocol import Oracle

FORMS = "llm:SUBJECT, tree:TRAINING_FILE or call:MODULE:NAME"

_TREE_SEED = 123
"""The authors'."""


class BadEvaluator(ValueError):
    """An evaluator that cannot be had: says what is allowed."""


@dataclass(frozen=True, slots=True)
class Spec:
    """An evaluator as told: `llm:NAME`, `tree:FILE`, `call:MODULE:NAME`, or just `llm`."""

    kind: Literal["llm", "tree", "call"]
    what: str

    @classmethod
    def read(cls, text: str) -> "Spec":
        """From the command line.

        Raises:
            BadEvaluator: it is none of these.
        """
        kind, _, what = text.partition(":")
        known = kind in {"llm", "tree", "call"}
        if not known or (not what and kind != "llm") or (kind == "call" and ":" not in what):
            raise BadEvaluator(f"{text!r} is no evaluator; allowed are {FORMS}")
        return cls(cast("Literal['llm', 'tree', 'call']", kind), what)


Players = Callable[[Sequence[Verifier]], list[Evaluator]]
"""From the verifiers of one datapoint to an evaluator for each."""


def models(
    oracle: Oracle, questions: Questions, strategy: Strategy, examples: Sequence[Example], pool: Sequence[JsonValue]
) -> Players:
    """A model behind an oracle; `pool` is what it may pick from."""
    candidates = Candidates(pool) if strategy == "pick" else None

    def players(verifiers: Sequence[Verifier]) -> list[Evaluator]:
        return [
            LLMEvaluator(
                oracle,
                verifier,
                questions,
                name=oracle.name,
                strategy=strategy,
                examples=examples,
                candidates=candidates,
            )
            for verifier in verifiers
        ]

    return players


def tree(training: Path, problem: Problem, generates_by: Rubric, lie: Lie | None) -> Players:
    """The paper's decision tree, trained on a file, with a generator that searches by a rubric, or lies.

    Raises:
        BadEvaluator: scikit-learn is not installed, the problem or the file does not suit.
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise BadEvaluator(
            f"tree: a package is missing ({error}); it comes with `pip install 'assay[local]'`"
        ) from None
    if len(problem.rubrics) != 1:
        raise BadEvaluator("tree: it tells two labels apart; give one rubric")
    if generates_by.plain:
        raise BadEvaluator(f"tree: its generator cannot search by plain language, which {generates_by.name} has")
    rows, classes = [], []
    for number, example in enumerate(load_examples(training), start=1):
        try:
            rows.append(decimal_feature(example.x))
        except (TypeError, ValueError) as error:
            raise BadEvaluator(f"{training}: datapoint {number}: {error}") from None
        classes.append(_class(example, problem, f"{training}: datapoint {number}"))
    labeller = SklearnLabeller(DecisionTreeClassifier(random_state=_TREE_SEED).fit(rows, classes), decimal_feature)
    generator = search(Encodings(generates_by, NoJudge()), string_like, lie)
    evaluator = Composed(f"tree:{training.name}", labeller, generator)
    return lambda _: [evaluator]


def called(target: str, problem: Problem) -> Players:
    """An object of a module in reach: an evaluator, or a callable from x to x' and 0 or 1.

    Raises:
        BadEvaluator: there is no such thing, or the problem has more than two labels.
    """
    if len(problem.rubrics) != 1:
        raise BadEvaluator(f"call:{target}: it tells two labels apart; give one rubric")
    module, _, name = target.partition(":")
    # As `python -m` has it: a module beside the data is what people write.
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise BadEvaluator(f"call:{target}: {error}") from None
    if hasattr(found, "propose"):
        evaluator: Evaluator = found
    elif callable(found):
        evaluator = FunctionEvaluator(f"call:{target}", found)
    else:
        raise BadEvaluator(f"call:{target}: {type(found).__name__} is no evaluator and cannot be called")
    return lambda _: [evaluator]


def _class(example: Example, problem: Problem, place: str) -> int:
    zero, one = problem.rubrics[0].labels
    if example.label is not None:
        for bit, label in ((0, zero), (1, one)):
            if same_label(example.label, label):
                return bit
    raise BadEvaluator(f"{place}: y is {example.label!r}; the rubric's labels are {zero!r} and {one!r}")
