"""Control sentences: false for certain, and asked about next to the response's sentences to see what the judge goes by.

A judge that goes by the reference finds them inconsistent. One that does as a text in the record bids it, or that says
yes to everything, does not, and then no accept is taken from it. They are the response's own sentences with a figure, a
name or a negation exchanged, so that no text can single one out by what it is about.
"""

import hashlib
import re
from collections.abc import Callable, Sequence

_FIGURE = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
_INVENTED = ("Tamsbrook", "Quendry", "Orvelle", "Lindmoor", "Saltrey", "Varnholt")
"""No place, person or day is called so."""
_NOT = re.compile(r"\b(not|never) |n['’]t\b", re.IGNORECASE)
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|will|can|could|may|must|should|would)\b(?! not)")
_STATEMENTS = (
    "The Tamsbrook ferry carried {} passengers on its last day.",
    "Locker {} at Quendry station is painted green.",
    "The brass band of Orvelle owns {} music stands.",
    "Ticket number {} won the raffle in Lindmoor.",
    "The lighthouse library of Saltrey lends out {} maps a year.",
    "The orchard behind the mill in Varnholt has {} plum trees.",
)
"""About places that do not exist, for responses without a sentence that can be changed."""
_OPEN = re.compile(r"[?:!？：！؟]\W*$")
_WORD = re.compile(r"\w{4,}")


def control_sentences(sentences: Sequence[str], reference: str, whole: str) -> list[str]:
    """Three control sentences, the same each time; a judge that calls one of them unsupported goes by the reference."""
    data = f"{reference}\n{whole}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.blake2b(data, digest_size=8, person=b"control").digest())
    return [control_sentence(sentences, reference, draw) for draw in (number, number // 7 + 1, number // 49 + 2)]


def control_sentence(sentences: Sequence[str], reference: str, number: int) -> str:
    """One of the sentences with something exchanged that the reference does not have; `number` draws which and what."""
    telling = _telling(sentences, reference)
    first = number % max(len(telling), 1)
    for exchange in (_other_figure, _other_name, _turned):
        for text in (*telling[first:], *telling[:first]):
            changed = exchange(text, reference, number)
            if changed not in sentences and changed not in reference:
                return changed
    choice, figure = divmod(number, 9000)
    return _STATEMENTS[choice % len(_STATEMENTS)].format(1000 + figure)


def _telling(sentences: Sequence[str], reference: str) -> list[str]:
    """Those that surely claim something: none that ends openly, or has far fewer words of the reference than others.

    A control sentence made of a courtesy would claim nothing, and be no fault of the judge that says so.
    """
    known = set(_WORD.findall(reference.casefold()))
    shared = {text: len(known.intersection(_WORD.findall(text.casefold()))) for text in sentences}
    closed = [text for text in sentences if not _OPEN.search(text)]
    most = max((shared[text] for text in closed), default=0)
    return [text for text in closed if 2 * shared[text] >= most]


def _other_figure(text: str, reference: str, number: int) -> str:
    known = set(_FIGURE.findall(f"{reference} {text}"))

    def other(figure: str) -> str:
        others = (str(int(figure[:15]) + step) for step in range(1000 + number % 97, 100_000))
        return next(one for one in others if one not in known)

    return _exchanged(_FIGURE, text, number, other)


def _other_name(text: str, reference: str, number: int) -> str:
    others = [name for name in _INVENTED if name not in reference and name not in text]
    return _exchanged(_NAME, text, number, lambda _: others[number % len(others)]) if others else text


def _exchanged(what: re.Pattern[str], text: str, number: int, other: Callable[[str], str]) -> str:
    found = list(what.finditer(text))
    if not found:
        return text
    place = found[number % len(found)]
    return text[: place.start()] + other(place[0]) + text[place.end() :]


def _turned(text: str, _reference: str, _number: int) -> str:
    """The sentence with a negation more, or one less."""
    return _NOT.sub("", text, count=1) if _NOT.search(text) else _VERB.sub(r"\1 not", text, count=1)
