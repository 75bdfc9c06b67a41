"""Parsers: from a sentence to its constituency tree. `build.build_parser` makes the one that the settings name."""

from checkers.equivalence.parsers.protocol import Asks, Parser
from checkers.equivalence.parsers.settings import PARSERS, ParserName, ParserSettings, ParserUnusable

# The builder is left where it is: the settings are read by commands that build no parser.
__all__ = ["PARSERS", "Asks", "Parser", "ParserName", "ParserSettings", "ParserUnusable"]
