"""The relations of words that a rule makes without a tagger: swaps, negation, deletion, numbers (paper, section 3.2).

A rule changes only what it is sure of. Edits that need to know which word is a thing or an action are the judge's.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import combinations
from random import Random

from checkers.retrieval.relations import Relation
from checkers.retrieval.tagging import tag
from models.text.closed_class import CLOSED_CLASS
from models.text.dates import MONTHS, WEEKDAYS
from models.text.negation import is_negator
from models.text.tokens import Token, tokens

Edit = Callable[[str, Sequence[Token], Random], Iterator[str]]
"""From a text and its words to changed texts, in random order."""

_MOST_WORDS = 80
"""A longer text is hardly one sentence."""

_NUMBER = re.compile(r"([$€£]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(%?)")
_MOST_DRAWS = 50
_LAST_DAY = 28
_YEARS = range(1000, 2100)

_JOINING = frozenset({"and", "or", "nor", "&", "/", "-", "–", ",", "the", "a", "an", "to"})
_BE = frozenset("am is are was were".split())
_PERFECT = frozenset({"has", "have", "had"})
_MODALS = frozenset("can could may might must shall should will would".split())
_ARTICLES = frozenset({"a", "an", "the", "my", "your", "his", "her", "its", "our", "their"})
_PARTICIPLE = re.compile(r"\w{2,}(?:ed|en|ing)|been|done|made|held|left|lost|met|paid|said|sent|sold|told|won")

_BRACKET = re.compile(r"\s*\([^()]*\)")
_CLAUSE = re.compile(r",\s(?:who|which|where|when|while|after|before|because|although|including)\b[^,;.]{8,}(?=[.,])")
_LAST_PHRASE = re.compile(
    r"(?<=[a-z])\s(?:in|at|on|during|after|before|near)\s(?:the|an?|\d+|[A-Z])(?:(?! and )[\w' -]){0,40}(?=\s?[.!]$)"
)
_ADVERB = re.compile(r"(?<=\s)(?!only|likely|early)[a-z]{2,}ly\s(?=[a-z])")
_NARROWED = re.compile(r"\b(?:all|both|about|almost|nearly|over)\s(?=(?:the\s)?\d)")


def swaps(text: str, words: Sequence[Token], random: Random) -> Iterator[str]:
    """Exchange two names, two things that begin with "the", or two numbers of one sort."""
    sorts = [
        [at for at in range(1, len(words)) if _is_name(words, at)],
        [at for at in range(1, len(words)) if _is_thing(words, at)],
        [at for at in range(len(words)) if number_at(text, words[at]) is not None],
    ]
    pairs = [pair for places in sorts for pair in combinations(places, 2) if _differ(text, words, *pair)]
    random.shuffle(pairs)
    for one, other in ((words[at], words[to]) for at, to in pairs):
        between = text[one.end : other.start]
        yield text[: one.start] + other.text + between + one.text + text[other.end :]


def negations(text: str, words: Sequence[Token], random: Random) -> Iterator[str]:
    """Take a "not" out behind an auxiliary, or put one in where nothing is denied or asked."""
    lower = [word.text.lower() for word in words]
    # "did not go" would be left with a "did" that nobody says.
    auxiliaries = _BE | _PERFECT | _MODALS
    made = [_without(text, word.start, word.end) for word, before in zip(words[1:], lower, strict=False)
            if word.text.lower() == "not" and before in auxiliaries]  # fmt: skip
    if not any(map(is_negator, lower)) and lower[-1:] != ["?"]:
        places = [at for at in range(1, len(words) - 1) if _takes_not(lower, at)]
        made += [f"{text[: words[at].end]} not{text[words[at].end :]}" for at in places]
    random.shuffle(made)
    yield from made


def deletions(text: str, words: Sequence[Token], random: Random) -> Iterator[str]:
    """Take out what only narrows the sense: brackets, a clause, an adverb, the last phrase, a word before a number."""
    found = [match for part in (_BRACKET, _CLAUSE, _LAST_PHRASE, _NARROWED) for match in part.finditer(text)]
    for match in _ADVERB.finditer(text):
        before = text[: match.start()].rsplit(maxsplit=1)[-1].lower()
        found += [match] if before in _BE | _PERFECT | _MODALS | CLOSED_CLASS - {"as", "so", "very", "too"} else []
    random.shuffle(found)
    for match in found:
        yield text[: match.start()] + text[match.end() :]


def numbers(text: str, words: Sequence[Token], random: Random) -> Iterator[str]:
    """Multiply a number by a random factor in [0, 2] but 1, and write it as before."""
    places = [at for at, word in enumerate(words) if number_at(text, word)]
    random.shuffle(places)
    for at in places:
        if (parts := number_at(text, words[at])) and (changed := _changed(words, at, parts[1], random)):
            yield text[: words[at].start] + parts[0] + changed + parts[2] + text[words[at].end :]


RULES: Mapping[Relation, Edit] = {
    "word_swap": swaps,
    "negative_expression": negations,
    "word_deletion": deletions,
    "quantifier_substitution": numbers,
}
"""The edit of each relation that a rule can make."""


def by_rule(text: str, relation: Relation, random: Random) -> str | None:
    """A text that looks the same and says something else; None if the text offers no place for a safe change.

    Raises:
        KeyError: there is no rule for the relation.
    """
    words = tokens(text)
    made = RULES[relation](text, words, random) if len(words) <= _MOST_WORDS else iter(())
    # What the tagging would call something else is passed over: a negative is of no use under a wrong name.
    return next((one for one in made if tag(text, one).relation == relation), None)


def number_at(text: str, word: Token) -> tuple[str, str, str] | None:
    """The parts of a number: before, in and behind its digits ($, 3.50 and nothing).

    None where the word is no number, or part of an ordinal, a range or a code (3rd, 1914-1918, B12).
    """
    beside = text[max(word.start - 1, 0) : word.start] + text[word.end : word.end + 1]
    found = _NUMBER.fullmatch(word.text)
    if found is None or any(character.isalpha() or character in "-–" for character in beside):
        return None
    return found[1], found[2], found[3]


def _changed(words: Sequence[Token], at: int, written: str, random: Random) -> str | None:
    """Another number that may stand there: a day stays a day, a year a year, one and many keep their nouns."""
    value = Decimal(written.replace(",", ""))
    digits = len(written.partition(".")[2])
    step = Decimal(1).scaleb(-digits)
    # Twice the number may have a digit more; the default context has room for 28.
    room = Context(prec=len(written) + 1)
    beside = {words[place].text.lower() for place in (at - 1, at + 1) if 0 <= place < len(words)}
    for _ in range(_MOST_DRAWS):
        # Nothing times anything is nothing: zero becomes a small number.
        factor = Decimal(repr(random.uniform(0, 2)))
        new = (value * factor if value else factor * 10).quantize(step, ROUND_HALF_UP, room)
        if beside & MONTHS.keys():
            fits = 1 <= new <= (_LAST_DAY if value <= 31 else _YEARS.stop)
        elif value == int(value) and int(value) in _YEARS and "," not in written:
            fits = int(new) in _YEARS
        else:
            # "1 house" and "0 houses": what follows would have to change with it.
            fits = (value == 1) == (new == 1) and (new != 0 or value == 0)
        if new != value and fits:
            return f"{new:,.{digits}f}" if "," in written else f"{new:.{digits}f}"
    return None


def _is_name(words: Sequence[Token], at: int) -> bool:
    """True if the word is a name by its capital, and the words beside it are no part of it."""
    text, beside = words[at].text, [words[place].text for place in (at - 1, at + 1) if 0 <= place < len(words)]
    names = (
        text.isalpha()
        and text[0].isupper()
        and len(text) > 2
        and text.lower() not in {*MONTHS, *WEEKDAYS, *CLOSED_CLASS}
    )
    return (
        names
        and words[at - 1].text not in {".", "!", "?", ":", '"', "“"}
        and not any(word[0].isupper() for word in beside)
    )


def _is_thing(words: Sequence[Token], at: int) -> bool:
    """True if the word stands alone behind "the", before grammar, a mark or a form of a verb."""
    text, behind = words[at].text, words[at + 1].text.lower() if at + 1 < len(words) else "."
    ends = behind in CLOSED_CLASS - {"of"} or (not behind[0].isalnum() and behind != "-") or behind.endswith("ed")
    return (
        words[at - 1].text.lower() == "the" and text.isalpha() and text.islower() and text not in CLOSED_CLASS and ends
    )


def _differ(text: str, words: Sequence[Token], one: int, other: int) -> bool:
    """True if the exchange changes what is said: two different words, no members of one list, numbers of one sort."""
    first, second = words[one], words[other]
    joined = {word.text.lower() for word in words[one + 1 : other]} <= _JOINING
    if first.text.lower() == second.text.lower() or joined:
        return False
    mine, yours = number_at(text, first), number_at(text, second)
    if mine is None or yours is None:
        return mine is yours
    # 1871 stands where a year stands, $5 among prices; one and many keep their nouns.
    return mine[::2] == yours[::2] and (len(mine[1]) == 4) == (len(yours[1]) == 4) and "1" not in (mine[1], yours[1])


def _takes_not(lower: Sequence[str], at: int) -> bool:
    """True if the word is an auxiliary here, and "not" may follow it."""
    word, before, behind = lower[at], lower[at - 1], lower[at + 1]
    if before in _ARTICLES or not behind.isalpha():
        return False
    if word in _BE:
        return behind in {"a", "an", "in", "on", "at"} or behind not in CLOSED_CLASS
    if word in _PERFECT:
        return _PARTICIPLE.fullmatch(behind) is not None
    return word in _MODALS and (behind not in CLOSED_CLASS or behind in {"be", "have", "do"})


def _without(text: str, start: int, end: int) -> str:
    return text[:start].rstrip() + text[end:]
