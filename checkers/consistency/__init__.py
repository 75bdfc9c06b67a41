"""Consistency of a response with its reference, sentence by sentence: DCR (Divide-Conquer-Reasoning)."""

from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.evidence import explain
from checkers.consistency.improver import ConsistencyImprover
from checkers.consistency.rewriter import RewritingSettings, build_writer
from checkers.plugin import CheckerPlugin, ImproverPlugin

PLUGIN = CheckerPlugin(
    checker=ConsistencyChecker,
    explain=explain,
    # All of the sample conversation.
    demo={"turns": 12},
    improver=ImproverPlugin(settings=RewritingSettings, build_writer=build_writer, build=ConsistencyImprover),
)
