"""Texts as the bundled judge compares them: each word, figure and date in one form, however it is written."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from snowballstemmer import stemmer

_LONGEST_WORD = 48
"""Characters kept of a word: longer runs are junk (base64, repeated letters) and must not cost memory."""

_FUNCTION_WORDS = frozenset(
    """
    a about above across after again against all almost along already also although always am among an and another any
    anyone anything are around as at away back be because been before behind being below beneath beside besides between
    beyond both but by can could despite did do does doing down during each either else enough even ever every everyone
    everything except few for from had has have having he her here hers him himself his how however i if in inside into
    is it its itself just least less like many may me might mine more most much must my myself near now of off often on
    only onto or other our ours out outside over own per perhaps please quite rather same shall she should since so
    some someone something still such than that the their theirs them then there therefore these they this those though
    through throughout thus till to too toward towards under until up upon us very via was we were what when where
    whether which while who whom whose why will with within would yet you your yours according added include including
    mentioned noted reported said say says stated told
    """.split()
)
"""Words without a meaning of their own, and verbs that only pass on what someone says."""

_NEGATORS = frozenset(
    "not no never nor neither none nobody nothing nowhere without cannot hardly barely false untrue fail failed fails "
    "deny denied denies refuse refused refuses lack lacks unable".split()
)

_APPROXIMATORS = frozenset("about around approximately roughly nearly almost over under circa".split())
_ROUNDING = 0.06
"""Share by which a figure behind "about" or "over" may differ."""

_PLAIN = str.maketrans("’‘“”–—", "''\"\"--")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏАВЕКМНОРСТУХІЈЅαοιυνκτρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijsdhlABEKMHOPCTYXIJSaoiuvktpABEZHIKMNOPTYX"
)
"""Cyrillic and Greek letters that look like Latin ones."""

_WORD = re.compile(r"\d+(?:[.:]\d+)*(?:st|nd|rd|th|s)?(?![^\W_])|[^\W_]+(?:'[^\W\d_]+)*")
_LEAD = re.compile(r"(?i)^(?:yes|yeah|no|nope|sure|sorry|unfortunately)[,:!.;] (?=\w)")
_NUMBER = r"(?<![\d.,])(\d+(?:\.\d+)?)"
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_CALENDAR = frozenset({*_MONTHS, *_DAYS, *(f"{day}s" for day in _DAYS)})
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_SIGNS = {"€": "euro", "EUR": "euro", "$": "dollar", "USD": "dollar", "£": "pound", "GBP": "pound", "%": "percent"}


def _date(day: str, month: str, year: str = "") -> str:
    name = _MONTHS[(int(month) - 1) % 12] if month.isdigit() else next(m for m in _MONTHS if m[:3] == month[:3])
    return f"{int(day)} {name} {year}".strip()


def _time(hour: str, minute: str | None, half: str) -> str:
    return f"{int(hour) % 12 + 12 * (half.lower() == 'p')}:{minute or '00'}"


def _scaled(number: str, scale: str) -> str:
    return f"{float(number) * _SCALES[scale.strip().lower()]:.0f}"


_FORMS: Sequence[tuple[str, str | Callable[[re.Match[str]], str]]] = (
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),
    (r"\b([12]\d{3})-(\d\d?)-(\d\d?)\b(?:T[\d:]+Z?)?", lambda found: _date(*found.groups()[::-1])),
    (rf"\b({_MONTH})\.? (\d\d?)(?:st|nd|rd|th)?\b(?!:),?", lambda found: _date(found[2], found[1])),
    (rf"\b(\d\d?)(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b,?", lambda found: _date(*found.groups())),
    (r"(?i)\b(\d\d?)(?:[:.](\d\d))? ?([ap])\.?m\b\.?", lambda found: _time(*found.groups())),
    (r"\b0(?=\d:\d\d)", ""),
    (rf"(?i){_NUMBER}([km]| ?(?:thousand|mn|million|bn|billion))\b", lambda found: _scaled(*found.groups())),
    # Without a sign of money, 5 m are metres.
    (rf"(?i)(?<=[€$£]){_NUMBER} ([km])\b", lambda found: _scaled(*found.groups())),
    (rf"([€$£]) ?{_NUMBER}", lambda found: f"{found[2]} {_SIGNS[found[1]]}"),
    (r"(?<=\d) ?(€|EUR|USD|GBP|%)(?!\w)", lambda found: f" {_SIGNS[found[1]]}"),
)
"""Ways to write a figure, a date or a time of day, and the one that is compared."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a plain text."""

    surface: str
    key: str
    """Equal where two words are the same word, whatever its inflection, or the same figure."""
    start: int
    end: int
    """Characters in the plain text."""
    content: bool
    """True if it has a meaning of its own."""
    figure: float | None
    denies: bool

    @property
    def is_fact(self) -> bool:
        """True for a figure (a lone one may be a pronoun), a time, a month and a day of the week."""
        return (self.surface[0].isdigit() and self.key != "1") or self.surface in _CALENDAR

    @property
    def is_name(self) -> bool:
        """True if it is written as names are, within a sentence."""
        return self.content and self.start > 0 and self.surface[0].isupper()


def plain(text: str) -> str:
    """Undo disguises (compatibility forms, invisible characters, foreign digits, look-alikes), and unify figures."""
    from text_to_num import alpha2digit

    text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    text = "".join(sign if sign.isprintable() else " " * sign.isspace() for sign in text)
    if not text.isascii():
        text = re.sub(r"\S*[A-Za-z0-9]\S*", lambda found: found.group().translate(_LOOKALIKES), text)
        text = re.sub(r"\d", lambda found: str(unicodedata.decimal(found.group())), text)
    text = _LEAD.sub("", " ".join(text.split()))
    for form, write in _FORMS:
        text = re.sub(form, write, text)
    return str(alpha2digit(text, "en", 0.0))


def words_of(text: str, most: int) -> list[Word]:
    """The first words of a plain text, in order."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        if len(found) == most:
            break
        surface = match.group()[:_LONGEST_WORD]
        lower = surface.lower().removesuffix("'s")
        figure = float(surface) if re.fullmatch(r"\d+(?:\.\d+)?", surface) else None
        denies = lower in _NEGATORS or lower.endswith("n't")
        content = surface in _CALENDAR or not (lower in _FUNCTION_WORDS or denies)
        key = f"{figure:.12g}" if figure is not None else stem(lower)
        found.append(Word(surface, key, *match.span(), content, figure, denies))
    return found


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A lower-case word without accents and English inflection: "parties" and "party" meet."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    # Threads must not share a stemmer: it holds the word that it works on.
    return str(stemmer("english").stemWord(bare))


def lost_facts(claim: Sequence[Word], reference: Sequence[Word]) -> list[Word]:
    """Facts of a claim that a reference has in no form, but for figures that are said to be about those there."""
    known, lost = {word.key for word in reference}, list[Word]()
    for at, word in enumerate(claim):
        if word.is_fact and word.key not in known:
            is_about = any(before.surface.lower() in _APPROXIMATORS for before in claim[max(0, at - 2) : at])
            others = [other.figure for other in reference if other.figure] if is_about and word.figure else []
            if not any(abs(other - (word.figure or 0)) <= _ROUNDING * other for other in others):
                lost.append(word)
    return lost


def lost_names(claim: Sequence[Word], reference: Sequence[Word]) -> list[Word]:
    """Names of a claim that a reference does not have."""
    known = {word.key for word in reference}
    return [word for word in claim if word.is_name and word.key not in known]


def denies(words: Sequence[Word]) -> bool:
    """True if they deny what they would say without their denials."""
    return sum(word.denies for word in words) % 2 == 1


_LEAST_SURE, _LEAST_LETTERS, _READ = 0.65, 12, 2000
"""The probability that another language must have, and the letters that tell it; fewer in another script."""


def language_of(text: str) -> str | None:
    """The language of a text other than English, by its ISO code; None if it is English, or too short to be told."""
    text = text[:_READ]
    if text.isascii() and sum(map(str.isalpha, text)) < _LEAST_LETTERS:
        return None
    language, sure = _identifier().classify(text)
    # Sentences with a name or two are taken for Nigerian Pidgin.
    return None if language in {"en", "pcm"} or sure < _LEAST_SURE else str(language)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


_REFUSAL = (
    # I cannot answer, we don't know
    r"\b(?:i|we)(?:'m| am| are|)\b[^.]{0,20}?(?:can't|cannot|can not|could not|couldn't|unable to|not able to|don't"
    r"|do not|did not|didn't|won't|will not|have no)\b[^.]{0,24}?\b(?:answer|help|know|say|tell|find|assist|determine"
    r"|confirm|provide|see|give|share|discuss|advise|diagnose|recommend|information)\b[^.]*"
    # The documents do not say
    r"|\b(?:it|they|there|(?:the|these|this|your|our|my)(?: [\w-]+){1,2}) (?:do|does|did)(?:n't| not) (?:say|mention"
    r"|state|specify|tell|contain|include|provide|give|address|discuss|describe|explain)\b[^.,]*"
    # That is not mentioned in the text, there is no information about it
    r"|(?:\b(?:is|are|was|were) not|n't) (?:mentioned|stated|specified|covered|addressed|found|listed) (?:in|by) (?:the"
    r"|my|our|these|this)\b[^.]*"
    r"|\bno (?:information|mention|details?|indication)(?: \w+){0,2} (?:about|of|on|regarding)\b[^.]*"
)
_COURTESY = (
    r"(?:hello|hi|hey|dear|thanks|thank you|welcome|sorry|goodbye|bye|sure|of course|certainly)\b[^.:;\d]{0,40}"
    r"|you(?:'re| are) (?:very )?welcome[^.:;\d]{0,40}|(?:have|enjoy) (?:a|the|your) [^.:;\d]{0,30}"
    r"|(?:(?:i|we)(?:'m| am| are|) (?:hope|happy|glad|sorry)\b|(?:please )?(?:let me know|feel free|speak to|talk to"
    r"|consult|ask) )[^.:;\d]{0,60}|(?:here (?:is|are)|here's|in short|in summary|below)\b[^.\d]*:"
)
_CLAIMS_NOTHING = re.compile(
    rf"[^?？]*[?？]['\")]*|(?:{_COURTESY})[.!,]*"
    rf"|(?:(?:i'm |i am )?sorry,? (?:but )?)?(?!.*(?:, but|; |however|although)\b)[^.]*(?:{_REFUSAL})[.!]*",
    re.IGNORECASE,
)
_MOST_CHARACTERS = 240
"""Of a sentence that may claim nothing."""


def claims_nothing(sentence: str) -> bool:
    """True for words to the reader, lead-ins, questions, refusals, and that a text does not say something."""
    text = " ".join(sentence.replace("’", "'").split())
    if not re.search(r"[^\W_]", text) or re.fullmatch(r"```(?!json).*```", text):
        return True
    return len(text) <= _MOST_CHARACTERS and _CLAIMS_NOTHING.fullmatch(text) is not None
