"""The paper's data: strings of twelve bits, freshly drawn or as the authors trained on."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from assay.cli.common import CannotRun
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
