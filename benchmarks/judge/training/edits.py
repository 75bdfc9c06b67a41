"""Edits of a sentence that change what it says, and edits that do not."""

import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from models.text.closed_class import CLOSED_CLASS
from models.text.dates import MONTHS, WEEKDAYS
from models.text.lexicon import lexicon
from models.text.opposites import OPPOSITE_STEMS
from models.text.packed import Pos
from models.text.tagger import tag_words
from models.text.tokens import Token, tokens
from models.text.words import stem

Edit = Callable[[str, Sequence[str], random.Random], str | None]
"""From a sentence, and the passage it is about, to the edited sentence; None where the edit does not apply."""

_AUXILIARIES = frozenset("is are was were has have had will would can could should may might must did does do".split())
_SPELLED = "one two three four five six seven eight nine ten eleven twelve".split()
_LINKS = frozenset({"of", "the", "de", "van", "von", "&"})
_TRAILING = re.compile(
    r",\s+(?:who|which|where|when|while|after|before|because|although|with|as|including)\b[^,.;]{8,}(?=[.,;]|$)"
)
_BRACKET = re.compile(r"\s*\([^()]*\)")
_FRONTED = re.compile(r"^((?:In|On|At|During|After|Before|By|Since|From|Until)\s[^,]{3,40}),\s+(.{12,}?)\s*([.!]?)$")


@lru_cache(maxsize=200_000)
def tagged(sentence: str) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    """The sentence's tokens and their Penn Treebank tags."""
    found = tuple(tokens(sentence))
    return found, tag_words([token.text for token in found]) if found else ()


@lru_cache(maxsize=200_000)
def names(sentence: str) -> tuple[tuple[int, int], ...]:
    """Character spans of the proper names."""
    found, tags = tagged(sentence)
    spans: list[tuple[int, int]] = []
    k = 0
    while k < len(found):
        proper = tags[k].startswith("NNP") and found[k].text[0].isupper() and found[k].text.lower() not in CLOSED_CLASS
        if not proper:
            k += 1
            continue
        last = k
        j = k + 1
        while j < len(found):
            if tags[j].startswith("NNP") and found[j].text[0].isupper():
                last = j
            elif not (found[j].text.lower() in _LINKS and j == last + 1):
                break
            j += 1
        spans.append((found[k].start, found[last].end))
        k = last + 1
    return tuple(spans)


def _put(sentence: str, start: int, end: int, text: str) -> str:
    return sentence[:start] + text + sentence[end:]


def _like(model: str, text: str) -> str:
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def other_number(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """Another figure, often one that the passage has for something else."""
    spots = [
        token
        for token in tokens(sentence)
        if re.fullmatch(r"\d[\d,]*(?:\.\d+)?", token.text) or token.text.lower() in _SPELLED[1:]
    ]
    if not spots:
        return None
    spot = rng.choice(spots)
    if not spot.text[0].isdigit():
        other = rng.choice([word for word in _SPELLED[1:] if word != spot.text.lower()])
        return _put(sentence, spot.start, spot.end, _like(spot.text, other))
    same_form = [
        token.text
        for line in passage
        for token in tokens(line)
        if re.fullmatch(r"\d[\d,]*(?:\.\d+)?", token.text)
        and len(token.text) == len(spot.text)
        and token.text != spot.text
    ]
    if same_form and rng.random() < 0.5:
        return _put(sentence, spot.start, spot.end, rng.choice(same_form))
    digits = spot.text.replace(",", "")
    if re.fullmatch(r"1[5-9]\d\d|20\d\d", spot.text):
        value = str(
            int(digits) + rng.choice([-30, -20, -11, -10, -7, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 7, 9, 10, 12, 20])
        )
    else:
        places = [k for k, sign in enumerate(spot.text) if sign.isdigit()]
        k = rng.choice(places)
        choices = [d for d in "123456789" if d != spot.text[k]]
        value = spot.text[:k] + rng.choice(choices) + spot.text[k + 1 :]
        if rng.random() < 0.2 and "." not in digits:
            value = digits + "0"
    return _put(sentence, spot.start, spot.end, value)


def other_date(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """Another month or weekday."""
    for table in rng.sample([MONTHS, WEEKDAYS], 2):
        full = [name for name in table if len(name) > 5 or name in {"may", "june", "july", "april", "march"}]
        spots = [token for token in tokens(sentence) if token.text.lower() in full and token.text[0].isupper()]
        if spots:
            spot = rng.choice(spots)
            other = rng.choice([name for name in full if table[name] != table[spot.text.lower()]])
            return _put(sentence, spot.start, spot.end, other.capitalize())
    return None


def exchanged_names(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """Two names in each other's place."""
    spans = names(sentence)
    pairs = [
        (one, two)
        for k, one in enumerate(spans)
        for two in spans[k + 1 :]
        if sentence[slice(*one)] != sentence[slice(*two)]
        # In "A and B" the exchange changes nothing.
        and not re.fullmatch(r"\s*,?\s*(?:and|or|,)\s*", sentence[one[1] : two[0]])
    ]
    if not pairs:
        return None
    (a, b), (c, d) = rng.choice(pairs)
    return sentence[:a] + sentence[c:d] + sentence[b:c] + sentence[a:b] + sentence[d:]


def other_name(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """Another name of the passage in place of one."""
    spans = names(sentence)
    if not spans:
        return None
    start, end = rng.choice(spans)
    here = set(sentence.lower().split())
    others = sorted(
        {
            line[a:b]
            for line in passage
            for a, b in names(line)
            if not here & set(line[a:b].lower().split()) and line[a:b].lower() not in sentence.lower()
        }
    )
    return _put(sentence, start, end, rng.choice(others)) if others else None


def negated(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """A negation more, or one less."""
    found, tags = tagged(sentence)
    for token in found:
        if token.text.lower() in {"not", "never"}:
            return re.sub(r"\s+", " ", _put(sentence, token.start, token.end, "")).strip()
    spots = [token for token in found if token.text.lower() in _AUXILIARIES]
    if spots and rng.random() < 0.8:
        spot = spots[0]
        return _put(sentence, spot.end, spot.end, rng.choice([" not", " not", " never"]))
    past = [
        token for token, tag in zip(found, tags, strict=True) if tag == "VBD" and token.text.lower() not in _AUXILIARIES
    ]
    if not past:
        return None
    spot = rng.choice(past)
    bases = sorted(lexicon().lemmas(spot.text.lower(), "v"))
    if bases and rng.random() < 0.6:
        return _put(sentence, spot.start, spot.end, f"did not {bases[0]}")
    return _put(sentence, spot.start, spot.end, f"never {spot.text}")


_LISTED: dict[str, list[str]] = {}
for _one, _other in sorted(OPPOSITE_STEMS):
    _LISTED.setdefault(_one, []).append(_other)


def opposite_word(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """A word's opposite in its place."""
    found, tags = tagged(sentence)
    spots = []
    for token, tag in zip(found, tags, strict=True):
        lower = token.text.lower()
        if tag[:2] not in {"NN", "VB", "JJ", "RB", "IN"} or tag.startswith("NNP") or lower in _AUXILIARIES:
            continue
        opposites = set(_LISTED.get(lower, ()))
        if tag in {"JJ", "RB", "NN", "VB", "IN"} and lower not in CLOSED_CLASS | {"not"}:
            opposites |= {word for word in lexicon().opposites(lower) if " " not in word and "_" not in word}
        if opposites:
            spots.append((token, sorted(opposites)))
    if not spots:
        return None
    token, words = rng.choice(spots)
    return _put(sentence, token.start, token.end, _like(token.text, rng.choice(words)))


def other_word(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """Another noun, verb or adjective of the passage, or another kind of the same thing, in place of one."""
    found, tags = tagged(sentence)
    spots = [
        (token, tag)
        for token, tag in zip(found, tags, strict=True)
        if tag in {"NN", "NNS", "JJ", "VBD", "VBN", "VBG", "VB", "VBZ"}
        and len(token.text) > 3
        and token.text.lower() not in CLOSED_CLASS
    ]
    if not spots:
        return None
    token, tag = rng.choice(spots)
    mine = {stem(word.text.lower()) for word in found}
    if tag == "NN" and rng.random() < 0.4:
        kinds = [
            word for word in lexicon().siblings(token.text.lower(), "n")[:12] if "_" not in word and " " not in word
        ]
        if kinds:
            return _put(sentence, token.start, token.end, _like(token.text, rng.choice(kinds)))
    others = sorted(
        {
            word.text
            for line in passage
            for word, other in zip(*tagged(line), strict=True)
            if other == tag
            and len(word.text) > 3
            and word.text.isalpha()
            and stem(word.text.lower()) not in mine
            and word.text.lower() not in CLOSED_CLASS
        }
    )
    if not others:
        return None
    return _put(sentence, token.start, token.end, _like(token.text, rng.choice(others)))


def exchanged_words(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """Two nouns, adjectives or verbs in each other's place."""
    found, tags = tagged(sentence)
    pairs = [
        (one, two)
        for k, (one, tag) in enumerate(zip(found, tags, strict=True))
        if tag in {"NN", "NNS", "JJ", "VBD", "VBN", "CD"}
        for j, (two, other) in enumerate(zip(found, tags, strict=True))
        if j > k + 1
        and other == tag
        and stem(one.text.lower()) != stem(two.text.lower())
        and sentence[one.end : two.start].strip().lower() not in {"and", "or", ",", ", and"}
    ]
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    return (
        sentence[: one.start]
        + _like(one.text, two.text)
        + sentence[one.end : two.start]
        + _like(two.text, one.text)
        + sentence[two.end :]
    )


def added_clause(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """A clause of another sentence behind the sentence."""
    clauses = [match.group() for line in passage for match in _TRAILING.finditer(line) if match.group() not in sentence]
    if not clauses:
        return None
    bare = sentence.rstrip()
    sign = bare[-1] if bare[-1:] in {".", "!"} else ""
    return bare.removesuffix(sign).rstrip(" ,") + rng.choice(clauses) + sign


_TURNED = {
    "from": "to",
    "to": "from",
    "with": "without",
    "without": "with",
    "for": "against",
    "against": "for",
    "before": "after",
    "after": "before",
    "above": "below",
    "over": "under",
    "into": "out of",
    "inside": "outside",
    "more": "less",
    "less": "more",
    "all": "some",
    "both": "neither",
    "until": "since",
}


def other_preposition(sentence: str, passage: Sequence[str], rng: random.Random) -> str | None:
    """From for to, with for without."""
    found, tags = tagged(sentence)
    spots = [
        token
        for k, (token, tag) in enumerate(zip(found, tags, strict=True))
        if token.text in _TURNED
        and tag in {"IN", "TO", "JJR", "RBR", "DT"}
        and k + 1 < len(found)
        and not (token.text == "to" and tags[k + 1].startswith("VB"))
    ]
    if not spots:
        return None
    spot = rng.choice(spots)
    return _put(sentence, spot.start, spot.end, _TURNED[spot.text])


CHANGES: dict[str, tuple[Edit, float]] = {
    "number": (other_number, 2.0),
    "date": (other_date, 1.0),
    "names exchanged": (exchanged_names, 2.5),
    "name": (other_name, 2.0),
    "negation": (negated, 1.2),
    "opposite": (opposite_word, 1.5),
    "word": (other_word, 2.0),
    "words exchanged": (exchanged_words, 1.5),
    "clause": (added_clause, 1.0),
    "preposition": (other_preposition, 1.0),
}
"""Edits that change what a sentence says, and how often each is tried first."""


def changed(sentence: str, passage: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    """The sentence saying something else, and the name of the edit."""
    left = dict(CHANGES)
    while left:
        name = rng.choices(list(left), [weight for _, weight in left.values()])[0]
        edit, _ = left.pop(name)
        result = edit(sentence, passage, rng)
        if result and result.lower() != sentence.lower():
            return result, name
    return None


def shortened(sentence: str, rng: random.Random) -> str | None:
    """The sentence without what stands in brackets or trails behind a comma."""
    cuts = [*_BRACKET.finditer(sentence), *_TRAILING.finditer(sentence)]
    cuts = [cut for cut in cuts if cut.start() > 20]
    if not cuts:
        return None
    cut = rng.choice(cuts)
    return _put(sentence, cut.start(), cut.end(), "")


def moved(sentence: str, rng: random.Random) -> str | None:
    """What stands in front of the first comma behind the rest: In 1999 she left; she left in 1999."""
    match = _FRONTED.match(sentence)
    if not match:
        return None
    front, rest, sign = match.groups()
    return rest[0].upper() + rest[1:] + " " + front[0].lower() + front[1:] + sign


def reordered(sentence: str, rng: random.Random) -> str | None:
    """A and B as B and A."""
    spans = names(sentence)
    pairs = [(one, two) for one, two in pairwise(spans) if sentence[one[1] : two[0]] == " and "]
    if not pairs:
        return None
    (a, b), (c, d) = rng.choice(pairs)
    return sentence[:a] + sentence[c:d] + " and " + sentence[a:b] + sentence[d:]


def respelled(sentence: str, rng: random.Random) -> str | None:
    """Small numbers in words as figures, and the other way round."""
    for token in tokens(sentence):
        lower = token.text.lower()
        if lower in _SPELLED[1:]:
            return _put(sentence, token.start, token.end, str(_SPELLED.index(lower) + 1))
        if token.text.isdigit() and 2 <= int(token.text) <= 12:
            return _put(sentence, token.start, token.end, _SPELLED[int(token.text) - 1])
    return None


_HARMLESS = ("also", "later", "then", "reportedly", "already", "now", "indeed", "actually", "currently")


def enlivened(sentence: str, rng: random.Random) -> str | None:
    """The sentence with a word that adds next to nothing."""
    found, tags = tagged(sentence)
    spots = [token for token, tag in zip(found, tags, strict=True) if tag in {"VBD", "VBZ", "VBN"}]
    spots = [token for token in spots if token.start > 5 and token.text.lower() not in {"'s", "'d"}]
    if not spots:
        return None
    spot = rng.choice(spots)
    at = spot.end if spot.text.lower() in _AUXILIARIES else spot.start
    word = rng.choice(_HARMLESS)
    return _put(sentence, at, at, f" {word}" if at == spot.end else f"{word} ")


def initialled(sentence: str, rng: random.Random) -> str | None:
    """A name of three words or more by its initials."""
    for start, end in names(sentence):
        parts = [part for part in sentence[start:end].split() if part[0].isupper()]
        if len(parts) >= 3:
            return _put(sentence, start, end, "".join(part[0] for part in parts))
    return None


_PARTS: dict[str, Pos] = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}


def synonymous(sentence: str, rng: random.Random) -> str | None:
    """A word of few meanings by another that means the same."""
    found, tags = tagged(sentence)
    spots = []
    for token, tag in zip(found, tags, strict=True):
        pos = _PARTS.get(tag)
        if pos is None or len(token.text) < 5 or not token.text.islower():
            continue
        others = [word for word in lexicon().synonyms(token.text, pos) if word.isalpha() and len(word) > 4]
        if 1 <= len(others) <= 3:
            spots.append((token, sorted(others)))
    if not spots:
        return None
    token, others = rng.choice(spots)
    return _put(sentence, token.start, token.end, rng.choice(others))


def kept(sentence: str, rng: random.Random) -> str:
    """The sentence in other form, saying the same or less."""
    edits = [shortened, moved, reordered, respelled, enlivened, initialled, synonymous]
    for edit in rng.sample(edits, len(edits)):
        if rng.random() < 0.45 and (result := edit(sentence, rng)):
            sentence = result
    return sentence
