"""Whether what the judge's reasons state of the reference is so, by a check that shares nothing with the judge.

A word is there in any of its forms: a name in its plural or as initials, a figure in words, a day in a range of days, a
date and a time of day however they are written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import datasets
from benchmarks.datasets import Example
from benchmarks.judge.agreement import BATCH, Bench, sentences_of
from benchmarks.tables import table
from models.claims import ClaimKind, Claims, Judgement
from models.protocol import ModelFailed

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ["", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split()]
_MONTHS = ("january february march april may june july august september october november december").split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DENIES = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|barely|scarcely)\b|n['’]t\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:,\d{3})*")
_CLOCK = re.compile(r"^(\d{1,2})(?:[:.](\d\d))? ?(?:([ap])\.? ?m\b\.?)?$", re.IGNORECASE)
_TRAFFIC = 8
"""One in so many of the recorded responses is read."""
_SHOWN = 40


def run_reasons(bench: Bench, data: Path) -> None:
    """By form of a reason how many there are, and how many are false; the false ones below."""
    forms, wrong, shown = Counter[str](), Counter[str](), []
    for claims, judged in _judged(bench, _claims(data)):
        for sentence, grade in zip(claims.sentences, judged, strict=True):
            form = re.sub(r"'[^']*(?:'\w[^']*)*'|“.*”", "…", grade.reason)
            forms[form] += 1
            if is_false(grade.reason, sentence, claims.reference, grade.passage):
                wrong[form] += 1
                shown.append((grade.reason, sentence, grade.passage))
    print(table(["reason", "given", "false"], [[form, count, wrong[form]] for form, count in forms.most_common()]))
    for each in shown[:_SHOWN]:
        print("", *each, sep="\n  ")


def _judged(bench: Bench, claims: Sequence[Claims]) -> Iterator[tuple[Claims, Sequence[Judgement]]]:
    for start in range(0, len(claims), BATCH):
        batch = claims[start : start + BATCH]
        for one, graded in zip(batch, bench.judge.judge(batch), strict=True):
            if not isinstance(graded, ModelFailed):
                yield one, graded


def _claims(data: Path) -> list[Claims]:
    whole: list[Example] = [*datasets.qags(data, "cnndm"), *datasets.qags(data, "xsum"), *datasets.faithbench(data)]
    whole += [*datasets.summedits(data), *datasets.traffic(data)[::_TRAFFIC]]
    pairs = [*datasets.paraphrases(data, "paws_wiki"), *datasets.paraphrases(data, "msrp_test_part")]
    asked = [(example, ClaimKind(example.task)) for example in (*whole, *pairs)]
    asked += [(example, kind) for example in pairs for kind in (ClaimKind.PHRASE, ClaimKind.ENTAILMENT)]
    return [
        Claims(example.references[0], found, kind, example.prompt)
        for example, kind in asked
        if (found := sentences_of(example))
    ]


def is_false(reason: str, claim: str, reference: str, passage: str | None) -> bool:
    """True if a statement in the reason about the reference, its passage or the claim is not so."""
    for form, fails in _CHECKS:
        if found := form.fullmatch(reason):
            return fails(found, claim, reference, passage or reference)
    return False


def _absent(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return has(found[1], reference) or not has(found[1], claim)


def _other_unit(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    unit = re.escape(found[2][:3].lower())
    return not has(found[1], reference) or any(
        re.search(rf"(?<!\w){re.escape(form)}[ -]?{unit}", _plain(reference)) for form in _forms(found[1])
    )


def _other_there(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return not has(found[1], passage) or has(found[2], passage)


def _no_denial(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return not has(found[1], claim) or _DENIES.search(passage) is not None


def _denied_there(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return not has(found[1], passage) or _DENIES.search(claim) is not None


def _not_stated(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return all(has(word, reference) for word in found[1].split()) or has(found[1], reference)


def _none_there(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return any(has(said, reference, exact=True) for said in re.findall(r"'(.+?)'(?=,|$)", found[1]))


def _quoted(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return found[1] not in reference


def _there(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return not has(found[1], reference)


def _there_for(found: re.Match[str], claim: str, reference: str, passage: str) -> bool:
    return not has(found[1], reference) or has(found[2], reference, exact=True)


_CHECKS = [
    (re.compile(form, re.DOTALL), check)
    for form, check in (
        (r"'(.+)' is not in the reference", _absent),
        (r"the reference has '(.+)' of something else than '(.+)'", _other_unit),
        (r"the passage nearest to it has '(.+)', not '(.+)'", _other_there),
        (r"the sentence has '(.+)', the passage nearest to it has no denial", _no_denial),
        (r"the passage nearest to it has '(.+)', the sentence has no denial", _denied_there),
        (r"the reference does not state '(.+)'", _not_stated),
        (r"(?:not )?supported by “(.+)”(?:, the passage nearest to it)?", _quoted),
        (r"“(.+)” says something similar but not this", _quoted),
        (r"the reference has '(.+)' for '(.+)'", _there_for),
        (r"nothing (?:there has|in it corresponds to) (.+)", _none_there),
        (r"it says '(.+)' for '.+'", _there),
        (r"it says '(.+)'", _there),
        (r"it does not say '(.+)'", lambda found, claim, reference, passage: has(found[1], reference, exact=True)),
        (r"'.+' stands where '(.+)' does in it", _there),
        (r"'(.+)' is said of something else in it", _there),
    )
]


def has(said: str, text: str, *, exact: bool = False) -> bool:
    """True if the text has it; unless `exact`, in any of the forms in which people write it."""
    plain = _plain(text)
    forms = {_plain(said)} if exact else {*_forms(said)}
    if any(form and re.search(rf"(?<!\w){re.escape(form)}(?!\w)", plain) for form in forms):
        return True
    return not exact and (_in_range(_plain(said), plain) or _as_initials(said, text))


def _plain(text: str) -> str:
    text = text.replace("’", "'").replace("‘", "'").lower()
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return " ".join(re.sub(r"[^\w.:/$€£%' -]", " ", re.sub(r"\.(?=\s|$)", " ", text)).split())


def _forms(said: str) -> Iterator[str]:
    plain = _plain(said)
    yield from (plain, plain.replace("-", " "), plain.removesuffix("'s"), f"{plain}s", f"{plain}'s", f"{plain}es")
    if len(plain) > 3:
        yield plain.removesuffix("s")
    yield plain.replace(".", "")
    if plain.lstrip("$€£").removesuffix("%").isdigit():
        number = int(plain.lstrip("$€£").removesuffix("%"))
        yield from (str(number), f"{number}%", *(f"{sign}{number}" for sign in "$€£"))
        yield from _in_words(number)
        yield from (f"{number}{ending}" for ending in ("st", "nd", "rd", "th", "s", "am", "pm", "m", "k"))
    for number in range(1, 100):
        if plain in _in_words(number):
            yield str(number)
    yield from _dates(plain)
    yield from _times(plain)


def _in_words(number: int) -> tuple[str, ...]:
    if number < 20:
        return (_ONES[number],)
    if number < 100:
        rest = _ONES[number % 10] if number % 10 else ""
        return tuple({f"{_TENS[number // 10]}{joint if rest else ''}{rest}" for joint in (" ", "-")})
    return ()


def _dates(plain: str) -> Iterator[str]:
    """A full date, or a day of a month, in its other forms."""
    year, month, day = "", 0, 0
    if found := re.fullmatch(r"(\d{4})-(\d\d?)-(\d\d?)", plain):
        year, month, day = found[1], int(found[2]), int(found[3])
    elif found := re.fullmatch(r"(\d\d?)[./](\d\d?)[./](\d{4})", plain):
        year, month, day = found[3], int(found[2]), int(found[1])
    elif found := re.fullmatch(rf"(\d\d?)(?:st|nd|rd|th)?(?: of)? ({'|'.join(_MONTHS)})(?: (\d{{4}}))?", plain):
        year, month, day = found[3] or "", _MONTHS.index(found[2]) + 1, int(found[1])
    elif found := re.fullmatch(rf"({'|'.join(_MONTHS)}) (\d\d?)(?:st|nd|rd|th)?(?: (\d{{4}}))?", plain):
        year, month, day = found[3] or "", _MONTHS.index(found[1]) + 1, int(found[2])
    if not 1 <= month <= 12:
        return
    for name in (_MONTHS[month - 1], _MONTHS[month - 1][:3]):
        for ending in ("", "st", "nd", "rd", "th"):
            for form in (f"{day}{ending} {name}", f"{day}{ending} of {name}", f"{name} {day}{ending}"):
                yield f"{form} {year}".strip()
    if year:
        yield from (f"{year}-{month:02}-{day:02}", f"{day}.{month}.{year}", f"{day:02}.{month:02}.{year}")


def _times(plain: str) -> Iterator[str]:
    if not (found := _CLOCK.match(plain)) or not (found[2] or found[3]):
        return
    hour, minutes = int(found[1]), found[2] or "00"
    if hour > 24:
        return
    hours = {hour % 12, hour % 12 + 12} if not found[3] and hour <= 12 else {hour % 12 + 12 * (found[3] == "p")}
    for each in hours if found[3] or hour <= 12 else {hour}:
        half = "am" if each % 24 < 12 else "pm"
        short = (each - 1) % 12 + 1
        for clock in (f"{short}:{minutes}", f"{short}.{minutes}", *([str(short)] if minutes == "00" else [])):
            yield from (f"{clock} {half}", f"{clock}{half}", f"{clock} {half[0]}.m", f"{clock} o'clock")
        yield from (f"{each % 24}:{minutes}", f"{each % 24:02}:{minutes}", f"{short}:{minutes}")
        if minutes == "00":
            yield f"{_ONES[short]} o'clock"


def _in_range(said: str, text: str) -> bool:
    """True if a day of the week lies in a range of days."""
    if said not in _DAYS:
        return False
    days = "|".join(_DAYS)
    for first, last in re.findall(rf"({days})s?(?: to | through | until | till | ?- ?)({days})", text):
        begin, end, day = (_DAYS.index(name) for name in (first, last, said))
        if (day - begin) % 7 <= (end - begin) % 7:
            return True
    return False


def _as_initials(said: str, text: str) -> bool:
    """True if a text spells out an abbreviation."""
    letters = said.replace(".", "")
    if not (letters.isupper() and 2 <= len(letters) <= 6 and letters.isalpha()):
        return False
    between = r"\w*[ -](?:(?:of|the|and|for) )*"
    return re.search(r"\b" + between.join(letters) + r"\w+", text) is not None
