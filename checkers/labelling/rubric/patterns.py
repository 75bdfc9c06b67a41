"""Regular expressions that cannot run away: RE2's, whose time grows with the text and never explodes."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from checkers.labelling.rubric.texts import case_phrase

_MAX_PROGRAM = 2000
"""Instructions. Where RE2's fast way runs out of memory, the time is the text's length by the program's."""
_MAX_SCANNED = 200_000_000
"""Characters. An expression that looks far beyond its matches (`a.*b|a`) may cost the text's length for each match."""

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Pattern:
    """A regular expression that matches somewhere in a text."""

    source: str
    any_case: bool = False

    @cached_property
    def compiled(self) -> Any:
        """The expression as RE2 compiled it.

        Raises:
            ValueError: RE2 cannot read it, or it is too large.
        """
        import re2

        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not self.any_case
        try:
            compiled = re2.compile(self.source, options)
        except re2.error as error:
            raise ValueError(error.args[0].decode()) from None
        if compiled.programsize > _MAX_PROGRAM:
            raise ValueError(f"it has {compiled.programsize} instructions; allowed are {_MAX_PROGRAM}")
        return compiled

    def holds(self, value: JsonValue) -> bool:
        """Whether it matches; False for what is no text."""
        return isinstance(value, str) and self.compiled.search(_encodable(value)) is not None

    def part(self, text: str) -> str | None:
        """The first match, or None."""
        found = self.compiled.search(_encodable(text))
        return None if found is None else text[found.start() : found.end()]

    def count(self, text: str) -> int | None:
        """How many matches there are, one behind the other; empty ones do not count.

        None where they are too many to be counted in good time: 14,000 characters are always counted to the end, of
        a million characters the first 200 matches.
        """
        allowed = _MAX_SCANNED // max(1, len(text))
        matches = 0
        for number, found in enumerate(self.compiled.finditer(_encodable(text)), start=1):
            if number > allowed:
                return None
            matches += found.end() > found.start()
        return matches

    def phrase(self, subject: str) -> str:
        """Such as `it matches the regular expression /[0-9]+/`."""
        return f"{subject} matches {self._named}"

    def number_phrase(self, subject: str) -> str:
        """Such as `the number of matches of the regular expression /[0-9]+/ in it`."""
        return f"the number of matches of {self._named} in {subject}"

    @property
    def _named(self) -> str:
        # Not as JSON, which would double every backslash.
        return f"the regular expression /{self.source}/{case_phrase(self.any_case)}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["matches", self.source, self.any_case]


def _encodable(text: str) -> str:
    # JSON can spell half a surrogate pair, UTF-8 cannot. The stand-in keeps every place in the text.
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text
