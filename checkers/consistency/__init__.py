"""Consistency of a response with its reference, sentence by sentence: DCR (Divide-Conquer-Reasoning)."""

from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.evidence import explain
from checkers.consistency.improver import ConsistencyImprover, form_cases
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(
    checker=ConsistencyChecker,
    explain=explain,
    # All of the sample conversation.
    demo={"turns": 12},
    improver=ConsistencyImprover,
    form_cases=form_cases,
)
