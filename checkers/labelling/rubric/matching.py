"""Finding and counting in texts: plain texts, words, and regular expressions that cannot run away (RE2's)."""

import re
from functools import lru_cache
from typing import Any

_MAX_PROGRAM = 2000
"""Instructions. Where RE2's fast way runs out of memory, the time is the text's length by the program's."""
_MAX_SCANNED = 200_000_000
"""Characters. An expression that looks far beyond its matches (`a.*b|a`) may cost the text's length for each match."""

_SURROGATES = re.compile("[\ud800-\udfff]")


def folded(text: str) -> str:
    """`text` without differences of letter case, and of the same length, so that places in it stay what they are."""
    whole = text.casefold()
    return whole if len(whole) == len(text) else "".join(map(_folded_character, text))


def count_words(text: str, word: str) -> int:
    """Count where `word` occurs and no letter, digit or underscore touches it, one behind the other."""
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text))


@lru_cache(maxsize=4096)
def compiled(expression: str, *, any_case: bool = False) -> Any:
    """The regular expression as RE2 compiled it.

    Raises:
        ValueError: RE2 cannot read it, or it is too large.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not any_case
    try:
        program = re2.compile(expression, options)
    except re2.error as error:
        raise ValueError(error.args[0].decode()) from None
    if program.programsize > _MAX_PROGRAM:
        raise ValueError(f"it has {program.programsize} instructions; allowed are {_MAX_PROGRAM}")
    return program


def first_match(text: str, expression: str, *, any_case: bool) -> str | None:
    """The first match, which may be empty, or None."""
    found = compiled(expression, any_case=any_case).search(_encodable(text))
    return None if found is None else text[found.start() : found.end()]


def count_matches(text: str, expression: str, *, any_case: bool) -> int | None:
    """Count the matches, one behind the other, without empty ones.

    None where they are too many to be counted in good time: 14,000 characters are always counted to the end, of a
    million characters the first 200 matches.
    """
    allowed = _MAX_SCANNED // max(1, len(text))
    matches = 0
    for number, found in enumerate(compiled(expression, any_case=any_case).finditer(_encodable(text)), start=1):
        if number > allowed:
            return None
        matches += found.end() > found.start()
    return matches


def _encodable(text: str) -> str:
    # JSON can spell half a surrogate pair, UTF-8 cannot. The stand-in keeps every place in the text.
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def _folded_character(character: str) -> str:
    return next((one for one in (character.casefold(), character.lower()) if len(one) == 1), character)
