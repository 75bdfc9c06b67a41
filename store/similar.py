"""Texts that resemble one another, grouped without a model: by the letters that few of them share (TF-IDF)."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final
from zlib import crc32

_LENGTH: Final = 4
"""Letters of a piece: of any script, whether it separates words or not."""
_PIECES: Final = 40
"""A long text is compared by a sample of its pieces: those whose checksums are lowest, which are the same in all."""
_ALIKE: Final = 0.5
"""Cosine of two texts from which they are of one group."""
_CHARACTERS: Final = 300
_DIGITS = re.compile(r"\d+")


def grouped(texts: Sequence[str]) -> list[list[int]]:
    """The places of texts that resemble the first of their group, the largest group first; figures count as equal."""
    pieces = [_pieces(text) for text in texts]
    having = Counter(piece for each in pieces for piece in each)
    # Those that all texts have say nothing, unless all texts are alike.
    worth = {piece: math.log((1 + len(texts)) / number) for piece, number in having.items()}
    groups: list[list[int]] = []
    begins: defaultdict[int, list[int]] = defaultdict(list)
    norms: list[float] = []
    for place, own in enumerate(pieces):
        norm = math.sqrt(sum(worth[piece] for piece in own))
        shared: defaultdict[int, float] = defaultdict(float)
        for piece in own:
            for group in begins[piece]:
                shared[group] += worth[piece]
        nearest = max(shared, key=lambda group: shared[group] / norms[group], default=None)
        if nearest is not None and shared[nearest] >= _ALIKE * norm * norms[nearest]:
            groups[nearest].append(place)
            continue
        for piece in own:
            begins[piece].append(len(groups))
        groups.append([place])
        norms.append(norm)
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def _pieces(text: str) -> list[int]:
    """Checksums of runs of letters that a text has."""
    said = f" {' '.join(_DIGITS.sub('0', text[:_CHARACTERS]).casefold().split())} "
    pieces = {said[at : at + _LENGTH] for at in range(max(1, len(said) - _LENGTH + 1))}
    return sorted({crc32(piece.encode(errors="replace")) for piece in pieces})[:_PIECES]
