"""Retrieval false matches: MeTMaP, live and as an audit."""

from checkers.plugin import CheckerPlugin
from checkers.retrieval.checker import RetrievalChecker
from checkers.retrieval.evidence import explain

PLUGIN = CheckerPlugin(checker=RetrievalChecker, explain=explain)
