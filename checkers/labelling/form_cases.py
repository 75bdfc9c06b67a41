"""Built-in cases of the questions to a labeller."""

from collections.abc import Iterator

from checkers.form_test import FormCase
from checkers.labelling.questions import LabellingPrompts
from checkers.labelling.rubric import parse_rubric

_RUBRIC = """
rubric: shelf-marks
about: Shelf marks of a library.
criteria:
  begins-with-B: {if: 'x.startsWith("B")', says: it begins with the letter B}
  has-seven: {if: 'x.contains("7")', says: it contains the digit 7}
label: all
"""
_MARK, _OTHER_MARKS = "B-17", ("C-40", "B-72", "A-7")


def form_cases(method: str) -> Iterator[FormCase]:
    """Labels with reasons, and marks that are picked and made."""
    prompts, rubric = LabellingPrompts(), parse_rubric(_RUBRIC, shown="built-in")
    yield FormCase(method, "subject", prompts.label(rubric, _MARK, ()), lambda reply: reply.label == "1")
    yield FormCase(method, "subject", prompts.label(rubric, _OTHER_MARKS[0], ()), lambda reply: reply.label == "0")
    picked = prompts.pick(rubric, _MARK, _OTHER_MARKS)
    yield FormCase(method, "subject", picked, lambda reply: _OTHER_MARKS[reply.choice - 1] == "B-72")
    made = prompts.generate(rubric, _MARK, 1, (), ())
    yield FormCase(method, "subject", made, lambda reply: _is_alike(reply.datapoint))


def _is_alike(mark: str) -> bool:
    return mark != _MARK and mark.startswith("B") and "7" in mark
