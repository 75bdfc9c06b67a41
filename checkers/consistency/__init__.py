"""Consistency of a response with its reference, sentence by sentence: DCR (Divide-Conquer-Reasoning)."""

from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.explanation import explain
from checkers.consistency.improver.improver import ConsistencyImprover
from checkers.consistency.improver.rewriter import build_writer
from checkers.consistency.improver.settings import RewritingSettings
from checkers.plugin import CheckerPlugin, ImproverPlugin

PLUGIN = CheckerPlugin(
    checker=ConsistencyChecker,
    explain=explain,
    # All of the sample conversation.
    demo={"turns": 12},
    improver=ImproverPlugin(settings=RewritingSettings, build_writer=build_writer, build=ConsistencyImprover),
)
