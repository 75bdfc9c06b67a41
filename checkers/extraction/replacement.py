"""R(v): the sentence with some of its entities replaced, well formed (oracle-checker, section 3.1).

Besides the mentions themselves, only what grammar ties to them changes: a/an before, the form of a possessive ending
behind, and a full stop that an abbreviation shares with its sentence. A mention in capitals gets its replacement in
capitals; a replacement in lower case gets a capital where a sentence begins.
"""

import re
from collections.abc import Sequence

from checkers.extraction.articles import indefinite_article
from checkers.extraction.linearity import Vector
from checkers.extraction.mentions import Located, begins_sentence

_ARTICLE_BEFORE = re.compile(r"(?<!\w)(an?)(\s+[\"'“‘(]?)$", re.IGNORECASE)
_POSSESSIVE_BEHIND = re.compile(r"(\s?['’])(s?)(?!\w)", re.IGNORECASE)
_OPENING_QUOTE = re.compile(r"(?<![\w.])['‘](?=\w)")
_CLOSING_QUOTE = re.compile(r"(?<=[\w.,!?])['’](?!\w)")
_CLOSING = " \t\n\"'”’)]"
_LONGEST_ARTICLE = 12


def replaced(located: Located, replacements: Sequence[str], vector: Vector) -> str:
    """The sentence with `replacements[j]` in place of every mention of entity j where bit j of `vector` is 1.

    Raises:
        ValueError: there are more or fewer replacements than entities, or a bit has no entity.
    """
    count = len(located.entities)
    if len(replacements) != count or not 0 <= vector < 1 << count:
        raise ValueError(f"{len(replacements)} replacements and vector {vector:b} for {count} entities")
    text, made, at = located.text, "", 0
    for j, start, end in located.mentions:
        if vector >> j & 1:
            written = text[start:end]
            new = _cased(replacements[j], located.entities[j], written, starts=begins_sentence(text, start))
            made = _with_article(made + text[at:start], written, new)
            new, at = _with_ending(text, end, written, new)
            made += new
    return made + text[at:]


def _cased(replacement: str, entity: str, written: str, *, starts: bool) -> str:
    if written.isupper() and not entity.isupper():
        return replacement.upper()
    if starts and written[:1].isupper() and replacement.split(maxsplit=1)[0].islower():
        return replacement[:1].upper() + replacement[1:]
    return replacement


def _with_article(before: str, written: str, new: str) -> str:
    """The text before the mention, its a or an made to suit; one that did not suit what was written is left."""
    window = before[-_LONGEST_ARTICLE:]
    found = _ARTICLE_BEFORE.search(window)
    if found is None or found[1].lower() != indefinite_article(written):
        return before
    at = len(before) - len(window) + found.start()
    article = indefinite_article(new)
    if found[1][0].isupper():
        if begins_sentence(before, at):
            article = article.upper() if written.isupper() else article.capitalize()
        elif written.isupper():
            article = article.upper()
        else:
            # A letter: "vitamin A".
            return before
    return before[:at] + article + found[2]


def _with_ending(text: str, end: int, written: str, new: str) -> tuple[str, int]:
    """The replacement with what follows from it behind the mention, and where the text goes on."""
    if written.endswith(".") and not new.endswith(".") and not text[end:].strip(_CLOSING):
        return f"{new}.", end
    if new.endswith(".") and not written.endswith(".") and text.startswith(".", end):
        return new, end + 1
    possessive = _POSSESSIVE_BEHIND.match(text, end)
    if possessive is None:
        return new, end
    had_s = bool(possessive[2])
    if not had_s and (not _ends_in_s(written) or _is_quoted(text, end)):
        return new, end
    if _ends_in_s(written) == _ends_in_s(new):
        return new, end
    return f"{new}{possessive[1]}{'' if _ends_in_s(new) else 's'}", possessive.end()


def _ends_in_s(text: str) -> bool:
    return text[-1:] in {"s", "S"}


def _is_quoted(text: str, end: int) -> bool:
    """True if a single quotation mark is open there, so that the next one may close it."""
    return len(_OPENING_QUOTE.findall(text[:end])) > len(_CLOSING_QUOTE.findall(text[:end]))
