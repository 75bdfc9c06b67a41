"""The paper's data, strings of twelve bits, and its evaluators: a tree that labels, generators that search, or lie.

They know the rubric and need no model. The verifier is the authors' notebooks': x' may be x, and S_x holds x alone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import JsonValue
from sklearn.tree import DecisionTreeClassifier

from assay.cli.common import CannotRun
from checkers.labelling.protocol import Proposal, Turn, Verifier
from checkers.labelling.questions import load_examples
from checkers.labelling.rubric import Rubric, load_rubric, no_judge

RUBRICS = Path(__file__).parents[2] / "examples" / "rubrics"
TEST_ENTRIES = 498
_LENGTH = 12


@cache
def rubric(name: str) -> Rubric:
    """One of the example rubrics."""
    return load_rubric(RUBRICS / f"{name}.yaml")


@dataclass(frozen=True, slots=True)
class Coded:
    """A string and its label."""

    x: str
    label: int


async def all_strings(of: Rubric) -> list[Coded]:
    """All strings of twelve bits."""
    strings = [format(number, f"0{_LENGTH}b") for number in range(2**_LENGTH)]
    return [Coded(x, of.aggregator(await of.bits(x, no_judge))) for x in strings]


def balanced(strings: list[Coded], draw: Random) -> list[Coded]:
    """A test set, half of it of either label, drawn with replacement; shuffled."""
    drawn = []
    for label in (0, 1):
        of_it = [one for one in strings if one.label == label]
        drawn.extend(draw.choices(of_it, k=TEST_ENTRIES // 2))
    draw.shuffle(drawn)
    return drawn


def training_file(data: Path) -> Path:
    """The file that the paper's tree was trained on; CannotRun if the folder does not hold it."""
    path = data / "no_data_algorithm" / "in_phenomenon_train.jsonl"
    if not path.is_file():
        raise CannotRun(f"{path} is missing; --data names the folder that holds no_data_algorithm/")
    return path


_TREE_SEED = 123
"""The authors'."""

Suits = Callable[[JsonValue, JsonValue, int], Awaitable[bool]]
"""Tells if a drawn datapoint will do, for x and its label."""

Lie = Literal["sigma", "f", "replaced"]
"""The thing that a generator falsely claims to know (paper, section 8.1.1): sigma, f, or f every time."""

REPLACED = 0.25
"""Share of the third lie's datapoints that a random one replaces, in the authors' notebook; their paper says 1/10."""

_MOST_DRAWS = 200_000


class NotebookVerifier(Verifier):
    """Compares wholes, and takes x for x'."""

    def is_echo(self, x: JsonValue, similar: JsonValue) -> bool:
        return False

    def parts(self, x: JsonValue) -> tuple[JsonValue, ...]:
        return (x,)


class StringGenerator:
    """Draws strings until one suits, then with probability `replaced` gives a random one in its place."""

    def __init__(self, suits: Suits, *, replaced: float = 0.0) -> None:
        self._suits = suits
        self._replaced = replaced

    async def similar(self, x: JsonValue, bit: int, turn: Turn) -> JsonValue:
        """The first drawn string that suits."""
        for _ in range(_MOST_DRAWS):
            drawn = string_like(x, turn.draw)
            if await self._suits(x, drawn, bit):
                return string_like(x, turn.draw) if turn.draw.random() < self._replaced else drawn
        raise RuntimeError(f"none of {_MOST_DRAWS} random strings is like {x}")


def search(verifier: Verifier, lie: Lie | None = None) -> StringGenerator:
    """The authors' generators: every clause agrees, or what is left of that if it lies."""

    async def every_clause(x: JsonValue, drawn: JsonValue, _: int) -> bool:
        wanted, found = await verifier.total(x, drawn)
        return wanted == found

    async def sorted_bits(x: JsonValue, drawn: JsonValue, _: int) -> bool:
        wanted, found = await verifier.bits(x, drawn)
        return sum(wanted) == sum(found)

    async def own_majority(_: JsonValue, drawn: JsonValue, bit: int) -> bool:
        return isinstance(drawn, str) and int(2 * drawn.count("1") >= len(drawn)) == bit

    if lie == "sigma":
        return StringGenerator(sorted_bits)
    return StringGenerator(own_majority if lie == "f" else every_clause, replaced=REPLACED * (lie == "replaced"))


def string_like(x: JsonValue, draw: Random) -> str:
    """A random string of bits, as long as `x`."""
    length = len(str(x))
    return format(draw.getrandbits(length), f"0{length}b")


class Tree:
    """The paper's decision tree: its single feature is a string of bits read as a *decimal* number."""

    def __init__(self, training: Path) -> None:
        examples = load_examples(training)
        rows, labels = [[float(str(one.x))] for one in examples], [int(one.label or 0) for one in examples]
        model = DecisionTreeClassifier(random_state=_TREE_SEED).fit(rows, labels)
        self.label: Callable[[str], int] = cache(lambda x: int(model.predict([[float(x)]])[0]))


@dataclass(frozen=True, slots=True)
class TreeEvaluator:
    """Labels x, now and then with the other label, then generates x'. y' is the label of x, as in the notebooks."""

    tree: Tree
    generator: StringGenerator
    noise: float = 0.0

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        bit = self.tree.label(str(x))
        if self.noise and turn.draw.random() < self.noise:
            bit = 1 - bit
        return Proposal(similar=await self.generator.similar(x, bit, turn), bit=bit)
