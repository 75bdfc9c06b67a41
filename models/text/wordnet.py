"""Reading WordNet's own database files, in the format of its manual page wndb(5)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from models.text.packed import Pos

FILES: dict[Pos, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}

# (p), (a) and (ip) say where an adjective may stand.
_MARKER = re.compile(r"\((?:p|a|ip)\)$")


class Key(NamedTuple):
    """Where a synset stands: its file and its offset there."""

    pos: Pos
    offset: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relation between two synsets, or between two of their words (counted from 1; 0 is the synset as a whole)."""

    symbol: str
    to: Key
    from_word: int
    to_word: int


class Frame(NamedTuple):
    """A sentence frame of wninput(5), such as 8, somebody does something, and the word it is for (0: all of them)."""

    number: int
    word: int


@dataclass(frozen=True, slots=True)
class Synset:
    """Words with one meaning, and what the meaning is related to."""

    key: Key
    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    frames: tuple[Frame, ...]
    """Of verbs only."""


def read_synsets(folder: Path, pos: Pos) -> Iterator[Synset]:
    """The synsets of one part of speech in the order of the file.

    Raises:
        ValueError: a line is not in the format of wndb(5).
    """
    path = folder / f"data.{FILES[pos]}"
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith(" "):  # the licence
                continue
            try:
                yield _synset(pos, line)
            except (ValueError, IndexError) as error:
                raise ValueError(f"{path}, line {number}: not a synset as wndb(5) describes it: {error}") from error


def _synset(pos: Pos, line: str) -> Synset:
    fields = line.partition("|")[0].split()
    offset, count = int(fields[0]), int(fields[3], 16)
    words = tuple(_MARKER.sub("", word) for word in fields[4 : 4 + 2 * count : 2])
    at = 4 + 2 * count
    pointers = []
    for start in range(at + 1, at + 1 + 4 * int(fields[at]), 4):
        symbol, target, part, ends = fields[start : start + 4]
        to = Key(_part(part), int(target))
        pointers.append(Pointer(symbol, to, *bytes.fromhex(ends)))
    # Behind a verb's pointers: how many frames, then a plus sign, the frame and the word for each.
    listed = fields[at + 2 + 4 * int(fields[at]) :] if pos == "v" else []
    frames = tuple(Frame(int(frame), int(word, 16)) for frame, word in zip(listed[1::3], listed[2::3], strict=True))
    return Synset(Key(pos, offset), words, tuple(pointers), frames)


def _part(letter: str) -> Pos:
    if letter == "s":
        return "a"
    for pos in FILES:
        if letter == pos:
            return pos
    raise ValueError(f"part of speech {letter!r}: one of n, v, a, s, r is expected")


class SenseCount(NamedTuple):
    """One sense of a word: which one of its senses it is, and how often text was tagged with it."""

    rank: int
    frequency: int


_PARTS_BY_DIGIT: dict[str, Pos] = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


def read_sense_counts(folder: Path) -> dict[tuple[str, Key], SenseCount]:
    """Sense number and count by word (lower case) and synset.

    Raises:
        ValueError: a line is not in the format of senseidx(5).
    """
    path, counts = folder / "index.sense", {}
    with path.open(encoding="utf-8") as lines:
        for line_number, line in enumerate(lines, 1):
            try:
                sense_key, offset, rank, frequency = line.split()
                lemma, _, rest = sense_key.rpartition("%")
                counts[lemma, Key(_PARTS_BY_DIGIT[rest[0]], int(offset))] = SenseCount(int(rank), int(frequency))
            except (ValueError, IndexError, KeyError) as error:
                raise ValueError(f"{path}, line {line_number}: not a sense as senseidx(5) describes it") from error
    return counts
