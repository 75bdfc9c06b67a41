"""Which of the texts that came along are matched, and in what order."""

from schemas import Matched, Retrieval

_DISTANCES = ("distance", "euclid", "l2", "manhattan", "l1", "hamming", "canberra", "lance", "bray", "mahalanobis")
"""Parts of names by which stores and libraries call metrics whose smaller values are closer."""


def candidates_of(record: Retrieval, *, most: int, characters: int) -> tuple[tuple[Matched, ...], int]:
    """Up to `most` candidates of up to `characters` together, the closest first; and the number of further ones.

    The matched text is none of them.
    """
    others = [one for one in _others(record) if has_words(one.text)]
    ordered = sorted(others, key=lambda one: one.score, reverse=larger_is_closer(record))
    chosen: list[Matched] = []
    for one in ordered[:most]:
        if len(one.text) <= characters:
            chosen.append(one)
            characters -= len(one.text)
    return tuple(chosen), len(others) - len(chosen)


def larger_is_closer(record: Retrieval) -> bool:
    """True if a larger score means closer: by the scores, where the matched text stands out, else by the metric's name.

    A name alone misleads: some stores give the cosine's distance under the name of the cosine.
    """
    scores = [one.score for one in _others(record)]
    if scores and record.matched.score > max(scores):
        return True
    if scores and record.matched.score < min(scores):
        return False
    name = (record.metric or "").casefold()
    return not any(part in name for part in _DISTANCES)


def _others(record: Retrieval) -> list[Matched]:
    """Stores that return the best k have the matched text among them."""
    matched = record.matched
    return [one for one in record.candidates if (one.id, one.text) != (matched.id, matched.text)]


def has_words(text: str) -> bool:
    """True if the text holds a letter or a digit: anything to compare."""
    return any(character.isalnum() for character in text)
