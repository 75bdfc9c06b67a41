"""The lexicon's own file: sorted lines in an xz archive, looked up by bisection in memory.

Four sections, separated by an empty line: words, inflected forms that no rule explains, synsets, the tagger's model.
"""

import lzma
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

FORMAT = "assay-lexicon 1"

Pos = Literal["n", "v", "a", "r"]
"""Noun, verb, adjective, adverb. Adjective satellites are adjectives."""

PARTS_OF_SPEECH: tuple[Pos, ...] = get_args(Pos)


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of one word."""

    pos: Pos
    synset: int
    """Which one of the synsets, from 0."""
    count: int
    """How often sense-tagged text has the word in this meaning."""
    antonyms: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    """Words of the same root: decide, decision; quickly, quick."""
    frames: tuple[int, ...] = ()
    """What a verb stands with, as numbers of sentence frames (wninput(5))."""


@dataclass(frozen=True, slots=True)
class PackedSynset:
    """Words with one meaning; other synsets are given by their number."""

    pos: Pos
    words: tuple[str, ...]
    """As they are written (Paris); words of several parts (hot dog) are left out."""
    hypernyms: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    """What a single thing (Paris) is an instance of."""
    similar: tuple[int, ...] = ()
    hyponyms: tuple[int, ...] = ()
    instances: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """What an irregular form (ran) is: the base form, its part of speech, and the Penn Treebank tag."""

    base: str
    pos: Pos
    tag: str


class Packed:
    """The four sections in memory. Nothing changes once it is loaded: safe to be shared between threads."""

    def __init__(self, path: Path) -> None:
        """Read the file whole, about 10 MB.

        Raises:
            ValueError: the file is not a compiled lexicon of this format.
        """
        try:
            header, _, body = lzma.decompress(path.read_bytes()).partition(b"\n")
        except lzma.LZMAError as error:
            raise ValueError(f"{path}: not a lexicon: {error}") from error
        if header.decode(errors="replace") != FORMAT:
            raise ValueError(f"{path}: not a lexicon of the format {FORMAT!r}: compile it again")
        words, forms, synsets, tagging = body.split(b"\n\n")
        self._words, self._forms, self._synsets = words.splitlines(), forms.splitlines(), synsets.splitlines()
        self.tagging = tagging.decode()
        """The tagger's model, as the tagger writes it."""

    def senses(self, lemma: str) -> tuple[Sense, ...]:
        """The meanings of a base form in lower case, commonest first within a part of speech; none if not known."""
        return tuple(_sense(field) for field in _find(self._words, lemma))

    def forms(self, word: str) -> tuple[Form, ...]:
        """What an irregular form in lower case may be; none if it is none."""
        return tuple(_form(field) for field in _find(self._forms, word))

    def synset(self, number: int) -> PackedSynset:
        """One synset by its number."""
        return _synset(self._synsets[number].decode())


def _find(lines: list[bytes], word: str) -> list[str]:
    start = word.encode() + b"\t"
    at = bisect_left(lines, start)
    if at == len(lines) or not lines[at].startswith(start):
        return []
    return lines[at][len(start) :].decode().split(";")


def _sense(field: str) -> Sense:
    pos, synset, count, antonyms, derived, frames = field.split(",")
    numbers = tuple(map(int, _split(frames)))
    return Sense(_pos(pos), int(synset), int(count), _split(antonyms), _split(derived), numbers)


def _form(field: str) -> Form:
    base, pos, tag = field.split(",")
    return Form(base, _pos(pos), tag)


def _synset(line: str) -> PackedSynset:
    pos, words, *relations = line.split("\t")
    return PackedSynset(_pos(pos), _split(words), *(tuple(map(int, _split(numbers))) for numbers in relations))


def _split(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(" ")) if joined else ()


_POS: dict[str, Pos] = {pos: pos for pos in PARTS_OF_SPEECH}


def _pos(letter: str) -> Pos:
    return _POS[letter]


def pack(
    words: dict[str, list[Sense]],
    forms: dict[str, list[Form]],
    synsets: Iterable[PackedSynset],
    tagging: str,
    path: Path,
) -> None:
    """Write the file; the same content gives the same bytes."""
    sections = (
        _section({word: [_written_sense(sense) for sense in senses] for word, senses in words.items()}),
        _section({word: [f"{form.base},{form.pos},{form.tag}" for form in found] for word, found in forms.items()}),
        [_written_synset(synset).encode() for synset in synsets],
        [tagging.encode()],
    )
    body = b"\n\n".join(b"\n".join(section) for section in sections)
    path.write_bytes(lzma.compress(FORMAT.encode() + b"\n" + body, preset=9 | lzma.PRESET_EXTREME))


def _section(entries: dict[str, list[str]]) -> list[bytes]:
    return sorted(word.encode() + b"\t" + ";".join(fields).encode() for word, fields in entries.items())


def _written_sense(sense: Sense) -> str:
    words = (" ".join(sense.antonyms), " ".join(sense.derived), " ".join(map(str, sense.frames)))
    return ",".join((sense.pos, str(sense.synset), str(sense.count), *words))


def _written_synset(synset: PackedSynset) -> str:
    relations = (synset.hypernyms, synset.classes, synset.similar, synset.hyponyms, synset.instances)
    return "\t".join((synset.pos, " ".join(synset.words), *(" ".join(map(str, numbers)) for numbers in relations)))
