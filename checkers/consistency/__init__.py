"""Consistency of a response with its reference, sentence by sentence: DCR (Divide-Conquer-Reasoning)."""

from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.improver import ConsistencyImprover
from checkers.consistency.improver_settings import RewritingSettings
from checkers.consistency.writer import build_writer
from checkers.plugin import CheckerPlugin, ImproverPlugin

PLUGIN = CheckerPlugin(
    checker=ConsistencyChecker,
    improver=ImproverPlugin(settings=RewritingSettings, build_writer=build_writer, build=ConsistencyImprover),
)
