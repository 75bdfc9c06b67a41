"""Quantifier substitution: a number times a random factor in [0, 2] but 1, written as before (paper, section 3.2)."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from random import Random

from lab.edits.sentence import TaggedSentence, number_at
from models.text.dates import MONTHS

_MOST_DRAWS = 50
_LAST_DAY = 28
_YEARS = range(1000, 2100)


def numbers(sentence: TaggedSentence, random: Random) -> Iterator[str]:
    """Texts with one number changed, in random order."""
    places = [(at, number) for at in range(len(sentence.words)) if (number := number_at(sentence, at))]
    random.shuffle(places)
    for at, (before, written, behind) in places:
        changed = _changed(sentence, at, written, random)
        if changed is not None:
            yield sentence.replaced({at: f"{before}{changed}{behind}"})


def _changed(sentence: TaggedSentence, at: int, written: str, random: Random) -> str | None:
    """Another number that may stand there: a day stays a day, a year a year, one and many keep their nouns."""
    value = Decimal(written.replace(",", ""))
    digits = len(written.partition(".")[2])
    step = Decimal(1).scaleb(-digits)
    # Twice the number may have a digit more; the default context has room for 28.
    room = Context(prec=len(written) + 1)
    for _ in range(_MOST_DRAWS):
        # Nothing times anything is nothing: zero becomes a small number.
        factor = Decimal(repr(random.uniform(0, 2)))
        new = (value * factor if value else factor * 10).quantize(step, ROUND_HALF_UP, room)
        if new != value and _may_stand(sentence, at, value, new):
            return f"{new:,.{digits}f}" if "," in written else f"{new:.{digits}f}"
    return None


def _may_stand(sentence: TaggedSentence, at: int, old: Decimal, new: Decimal) -> bool:
    if sentence.lower(at - 1) in MONTHS or sentence.lower(at + 1) in MONTHS:
        return 1 <= new <= (_LAST_DAY if old <= 31 else _YEARS.stop)
    if old == int(old) and int(old) in _YEARS and "," not in sentence.words[at].text:
        return int(new) in _YEARS
    # "1 house" and "0 houses": what follows would have to change with it.
    return (old == 1) == (new == 1) and (new != 0 or old == 0)
