"""Texts: on a line, as they are compared, divided into sentences that are judged one by one, and cut into pieces."""

import re
from dataclasses import dataclass

import sentencex

# Signs that models straighten when they copy a text: quotation marks, dashes, spaces.
_STRAIGHT = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\N{SOFT HYPHEN}\N{ZERO WIDTH SPACE}\N{WORD JOINER}\N{ZERO WIDTH NO-BREAK SPACE}")
)
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_line(text: str, most: int = 120) -> str:
    """A text with its white space as single blanks, cut off where it has more than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def first_line(error: BaseException) -> str:
    """The first line of an error's message without terminal codes; its class if the message is empty."""
    return next(iter(_TERMINAL_CODE.sub("", str(error)).strip().splitlines()), type(error).__name__)


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`; for nouns with a plural in -s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def straightened(text: str) -> str:
    """The text with plain quotation marks, hyphens for dashes, and single blanks: equal ones are copies."""
    return " ".join(text.translate(_STRAIGHT).split())


_BULLET = re.compile(r"[^\S\n]*(?:[-*+•‣▪–—>]|#{1,6})[^\S\n]+")
_NUMBERED = re.compile(r"[^\S\n]*(?:\(?(\d{1,3})[.)]|\(?([a-z])\))[^\S\n]+")
_LONE_NUMBER = re.compile(r"\(?\d{1,3}[.)]")  # within a line it numbers what follows; at the very end it is an answer
_WORD = re.compile(r"\w")
_SPACE = re.compile(r"\s+")
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")  # the library takes a blank for one byte, and ends the process otherwise
_OVERLAP = 0.1  # part of a piece that two neighbours have in common at most, so that text across a cut is whole in one
_FULL = 0.6  # a piece may end this early, for the sake of ending with a sentence


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a response; `text` is `response[start:end]`, offsets in code points."""

    text: str
    start: int
    end: int


def split_sentences(text: str, *, language: str = "en") -> list[Sentence]:
    """The sentences of `text` in order, without list markers and surrounding white space.

    Every letter and digit of the text is in exactly one of them, but for the numbers of list items. A piece
    without a letter or digit (a rule, a lone closing quote) is not a sentence and joins the one before.
    """
    sentences: list[Sentence] = []
    number = 0
    plain = _WIDE_SPACE.sub(" ", text)
    for line_start, line_end in _lines(text):
        end, number = _behind_markers(text, line_start, line_end, number)
        # The library returns consecutive stretches, but may drop white space between them.
        for stripped in map(str.strip, sentencex.segment(language, plain[end:line_end])):
            start = plain.index(stripped, end)
            end = start + len(stripped)
            is_joined = not _WORD.search(stripped)
            if not stripped or (is_joined and not sentences):
                continue
            if is_joined or (sentences and _LONE_NUMBER.fullmatch(sentences[-1].text)):
                start = sentences.pop().start
            sentences.append(Sentence(text[start:end], start, end))
    return sentences


def _lines(text: str) -> list[tuple[int, int]]:
    # A line break ends a sentence unless the next line goes on in lower case: then it was only wrapped.
    lines: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        begun = lines.pop()[0] if lines and line.lstrip()[:1].islower() else start
        start += len(line)
        lines.append((begun, start))
    return lines


def _behind_markers(text: str, start: int, end: int, last_number: int) -> tuple[int, int]:
    """The start of a line's text, and the number of the last list item up to here."""
    while bullet := _BULLET.match(text, start, end):
        start = bullet.end()
    if numbered := _NUMBERED.match(text, start, end):
        number = int(numbered[1]) if numbered[1] else ord(numbered[2]) - ord("a") + 1
        # "within\n90) days" is no list item: items begin at 1 and count on.
        if number in {1, last_number + 1}:
            return numbered.end(), number
    return start, last_number


def pieces_of(text: str, room: int) -> list[str]:
    """Stretches of at most `room` characters that together hold all of `text`, each but the first with an overlap.

    They end with a sentence where one ends late enough, else between words. Sentences shorter than the overlap are
    whole in one of them.
    """
    places = [one.start for one in split_sentences(text)], [found.end() for found in _SPACE.finditer(text)]
    pieces, start = list[str](), 0
    while len(text) - start > room:
        earliest, latest = start + int(room * _FULL), start + room
        ends = ([one for one in each if earliest < one <= latest] for each in places)
        end = max(next(filter(None, ends), [latest]))
        back = end - int(room * _OVERLAP)
        pieces.append(text[start:end])
        starts = ([one for one in each if back <= one < end] for each in places)
        start = min(next(filter(None, starts), [back]))
    return [*pieces, text[start:]]
