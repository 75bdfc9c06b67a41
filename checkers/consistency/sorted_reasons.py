"""Which entry of a judge's answer speaks of which sentence: our division decides, not the judge's."""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from checkers.consistency.replies import Reasons

_QUOTES = "\"'“”‘’«»„`"
_TERMINATORS = ".!?…。！？"


@dataclass(frozen=True, slots=True)
class SortedReasons:
    """An answer, sorted by the sentences that were asked about."""

    reasons: dict[int, tuple[str, ...]]
    """The reasons given for each sentence, by its index; several where a judge took it apart into aspects."""
    whole: tuple[str, ...]
    """Reasons that speak of the response as a whole (paper, appendix A.4)."""
    missing: tuple[int, ...]
    """Indices of sentences without a reason: left out, or merged into another."""
    invented: tuple[int, ...]
    """Indices of entries that are no sentence of the response: made up, reworded, or several merged."""

    @property
    def complaint(self) -> str | None:
        """What to tell the judge, by numbers only: nothing of the material is repeated outside its fence."""
        faults = []
        if self.missing:
            faults.append(f"these sentences of the list have no entry of their own: {_numbers(self.missing)}")
        if self.invented:
            faults.append(f"these entries are no sentence of the list: {_numbers(self.invented)}")
        if not faults:
            return None
        return (
            f"Your answer does not fit the list of sentences: {'; '.join(faults)} (counting from 1). Answer again in "
            "full, one entry for every sentence of the list, each copied letter for letter, in the same JSON form."
        )


def sort_reasons(sentences: Sequence[str], response: str, reply: Reasons) -> SortedReasons:
    """Sort the entries of `reply` by the sentences they copy, forgiving quotes, white space and the final stop.

    A sentence that occurs twice and was answered once has that answer for both.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for index, sentence in enumerate(sentences):
        places[comparable(sentence)].append(index)
    whole_key = comparable(response) if len(sentences) > 1 else None

    given: dict[str, list[str]] = defaultdict(list)
    whole: list[str] = []
    invented: list[int] = []
    for number, entry in enumerate(reply.reason):
        key = comparable(entry.sentence)
        if key in places:
            given[key].append(entry.reason)
        elif key == whole_key:
            whole.append(entry.reason)
        else:
            invented.append(number)

    reasons: dict[int, tuple[str, ...]] = {}
    for key, found in given.items():
        indices = places[key]
        in_turn = len(found) == len(indices)
        for turn, index in enumerate(indices):
            reasons[index] = (found[turn],) if in_turn else tuple(found)
    missing = tuple(index for index in range(len(sentences)) if index not in reasons)
    return SortedReasons(reasons, tuple(whole), missing, tuple(invented))


def comparable(text: str) -> str:
    """What two copies of a sentence have in common: without quotes around it, spacing and the final stop."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return plain.strip(_QUOTES).rstrip(_TERMINATORS + _QUOTES) or plain


def _numbers(indices: Sequence[int]) -> str:
    return ", ".join(str(index + 1) for index in indices)
