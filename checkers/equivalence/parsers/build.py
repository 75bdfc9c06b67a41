"""From settings to a parser with its cache."""

from checkers.equivalence.parsers.cache import CachedParser
from checkers.equivalence.parsers.protocol import Parser
from checkers.equivalence.parsers.settings import ParserSettings, ParserUnusable
from checkers.oracle.protocol import Oracle


def build_parser(settings: ParserSettings, judge: Oracle | None = None) -> Parser:
    """The parser that `settings` name; imports what it needs, and only that. Nothing is started or loaded yet.

    Raises:
        ParserUnusable: its extra is not installed, its model is not there, or it is the judge and none is given.
        TemplateError: the own template for asking the judge cannot be used.
    """
    file = None
    if settings.tree_cache_file is not None:
        from checkers.equivalence.parsers.tree_file import TreeFile

        file = TreeFile(settings.tree_cache_file, megabytes=settings.tree_cache_megabytes)
    return CachedParser(
        _parser(settings, judge),
        max_characters=settings.max_characters,
        tokens=settings.tree_cache_tokens,
        file=file,
    )


def _parser(settings: ParserSettings, judge: Oracle | None) -> Parser:
    if settings.parser == "corenlp":
        from checkers.equivalence.parsers.corenlp import CoreNLPParser

        return CoreNLPParser(
            settings.corenlp_url,
            connections=settings.corenlp_connections,
            timeout_seconds=settings.corenlp_timeout_seconds,
        )
    if settings.parser == "stanza":
        from checkers.equivalence.parsers.stanza import StanzaParser

        return StanzaParser(settings.stanza_folder, settings.stanza_language)
    if settings.parser == "judge":
        from checkers.equivalence.parsers.judge import JudgeParser

        if judge is None:
            raise ParserUnusable("parser = 'judge' needs a judge to ask")
        return JudgeParser(judge, settings.parse_prompt)
    from checkers.equivalence.parsers.embedded import EmbeddedParser

    return EmbeddedParser()
