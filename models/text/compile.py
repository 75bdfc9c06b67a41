"""Compiles WordNet's database files into the lexicon's own file: python -m models.text.compile DICT OUT."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from models.text.inflections import inflections
from models.text.lexicon import lexicon
from models.text.morphology import detach
from models.text.packed import PARTS_OF_SPEECH, Form, PackedSynset, Pos, Sense, pack
from models.text.wordnet import FILES, Key, SenseCount, Synset, read_sense_counts, read_synsets

_ANTONYM, _DERIVED = ("!",), ("+", "\\", "<")
_BASE_TAGS = {"NN", "VB", "VBP", "JJ", "RB"}

Inflections = Callable[[str, Pos], dict[str, tuple[str, ...]]]
"""All forms of a base form by Penn Treebank tag."""


def compile_lexicon(folder: Path, out: Path, inflections: Inflections) -> None:
    """Read WordNet's files in `folder` and write the lexicon to `out`: words of one part, and how they are related.

    The tagger's model is the one that the package has.

    Raises:
        FileNotFoundError: one of the files is missing.
        ValueError: a file is not in WordNet's format.
    """
    synsets = [synset for pos in PARTS_OF_SPEECH for synset in read_synsets(folder, pos)]
    numbers = {synset.key: number for number, synset in enumerate(synsets)}
    words = _words(synsets, numbers, read_sense_counts(folder))
    pack(words, _forms(words, inflections), [_packed(synset, numbers) for synset in synsets], lexicon().tagging, out)


def _single(word: str) -> bool:
    # The three characters that the file's own lines are made of.
    return "_" not in word and not set(word) & set(",; ")


def _words(
    synsets: list[Synset], numbers: dict[Key, int], counts: dict[tuple[str, Key], SenseCount]
) -> dict[str, list[Sense]]:
    found: dict[str, list[tuple[int, int, Sense]]] = defaultdict(list)
    for synset in synsets:
        for position, word in enumerate(synset.words, 1):
            if not _single(word):
                continue
            rank, frequency = counts[word.lower(), synset.key]
            sense = Sense(
                synset.key.pos,
                numbers[synset.key],
                frequency,
                _related(synset, position, _ANTONYM, synsets, numbers),
                _related(synset, position, _DERIVED, synsets, numbers),
                tuple(sorted({frame.number for frame in synset.frames if frame.word in (0, position)})),
            )
            found[word.lower()].append((PARTS_OF_SPEECH.index(synset.key.pos), rank, sense))
    return {
        word: [sense for _, _, sense in sorted(senses, key=lambda entry: entry[:2])] for word, senses in found.items()
    }


def _related(
    synset: Synset, position: int, symbols: Iterable[str], synsets: list[Synset], numbers: dict[Key, int]
) -> tuple[str, ...]:
    targets = (
        synsets[numbers[pointer.to]].words[pointer.to_word - 1]
        for pointer in synset.pointers
        if pointer.symbol in symbols and pointer.from_word == position
    )
    return tuple(dict.fromkeys(word.lower() for word in targets if _single(word)))


def _packed(synset: Synset, numbers: dict[Key, int]) -> PackedSynset:
    def to(symbol: str) -> tuple[int, ...]:
        return tuple(numbers[pointer.to] for pointer in synset.pointers if pointer.symbol == symbol)

    return PackedSynset(
        synset.key.pos,
        tuple(word for word in synset.words if _single(word)),
        hypernyms=to("@"),
        classes=to("@i"),
        similar=to("&"),
        hyponyms=to("~"),
        instances=to("~i"),
    )


def _forms(words: dict[str, list[Sense]], inflections: Inflections) -> dict[str, list[Form]]:
    """Forms that the rules of detachment miss (ran), and those that look like the base form (cut)."""
    parts = {word: {sense.pos for sense in senses} for word, senses in words.items()}
    found: dict[str, set[Form]] = defaultdict(set)
    for word, its_parts in sorted(parts.items()):
        for pos in its_parts:
            for tag, forms in _by_tag(inflections(word, pos)):
                # What comes behind the usual form is rare, and may be the base form again (boxes, box).
                for form in forms[:1] if word in forms else forms:
                    if tag not in _BASE_TAGS and _single(form) and not _explained(form.lower(), word, pos, parts):
                        found[form.lower()].add(Form(word, pos, tag))
    return {form: sorted(bases, key=lambda base: (base.base, base.pos, base.tag)) for form, bases in found.items()}


def _by_tag(inflections: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from inflections.items()
    # A participle that looks like the past tense is left out of the tables.
    if "VBD" in inflections and "VBN" not in inflections:
        yield "VBN", inflections["VBD"]


def _explained(form: str, base: str, pos: Pos, parts: dict[str, set[Pos]]) -> bool:
    return any(found == base for found, _ in detach(form, pos, lambda word: pos in parts.get(word, ())))


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile DICT into OUT."""
    parser = argparse.ArgumentParser(prog="python -m models.text.compile", description=__doc__)
    parser.add_argument("dict", type=Path, help="WordNet's folder of data.*, and index.sense")
    parser.add_argument("out", type=Path, help="the file to be written")
    options = parser.parse_args(arguments)
    missing = [
        name
        for name in (*(f"data.{part}" for part in FILES.values()), "index.sense")
        if not (options.dict / name).is_file()
    ]
    if missing:
        parser.error(f"{options.dict} has no {', '.join(missing)}: WordNet's dict folder is expected")
    try:
        compile_lexicon(options.dict, options.out, inflections)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install 'assay[audit]'")
    except (OSError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
