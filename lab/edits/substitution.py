"""Object and action substitution: a noun or verb gives way to another of its kind, in the same form."""

from collections.abc import Iterator
from random import Random

from lab.edits.forms import base_form, inflected, part
from lab.edits.sentence import TaggedSentence
from models.text.closed_class import CLOSED_CLASS
from models.text.lexicon import lexicon

_COUNTED = (
    "person",
    "animal",
    "vehicle",
    "structure",
    "device",
    "garment",
    "organ",
    "document",
    "organization",
    "room",
)
"""Things that are counted one by one: what is a kind of these has a plural and takes "a"."""

_WITH_OBJECT = frozenset({8, 9, 10, 11})
"""WordNet's sentence frames (wninput(5)) of somebody or something that does something to somebody or something."""

_MOST_NOUNS = 8
_MOST_VERBS = 6
_PURE = 0.9
_COMMON = 2


def objects(sentence: TaggedSentence, random: Random) -> Iterator[str]:
    """Texts with one noun replaced, in random order."""
    places = [at for at, word in enumerate(sentence.words) if word.tag in ("NN", "NNS") and _noun_is_free(sentence, at)]
    random.shuffle(places)
    for at in places:
        word = sentence.words[at]
        lemma = base_form(word.text, word.tag)
        if lemma is None or not plain(lemma, word.tag):
            continue
        offered = [one for one in lexicon().siblings(lemma, "n") if _fits(one, lemma)][:_MOST_NOUNS]
        random.shuffle(offered)
        for other in offered:
            form = inflected(other, word.tag)
            if form and form != word.lower:
                yield sentence.exchanged(at, form)


def plain(lemma: str, tag: str) -> bool:
    """True if a reader would take the word for this part of speech first, and has met it."""
    counts = lexicon().senses(lemma) if lemma.isalpha() else {}
    own = counts.get(part(tag), 0)
    return own >= _COMMON and own >= _PURE * sum(counts.values())


def sorts(lemma: str) -> frozenset[str]:
    """Which of the things that are counted one by one the noun is a kind of."""
    return frozenset(thing for thing in _COUNTED if lexicon().is_a(lemma, thing, "n"))


def _noun_is_free(sentence: TaggedSentence, at: int) -> bool:
    """True if the noun stands for itself: no part of a compound or of a fixed phrase (in front of, at last)."""
    return (
        sentence.tag(at - 1) in ("DT", "PRP$", "JJ", "CD")
        and sentence.tag(at + 1) in (".", ",", "IN", "CC", "VBD", "VBZ", "MD", "WP", "WDT", "")
        and sentence.lower(at + 1) not in ("of", "that", "to")
    )


def _fits(other: str, lemma: str) -> bool:
    words = lexicon()
    if words.written(other) != other or not plain(other, "NN"):
        return False
    return words.relation(lemma, other) in (None, "antonym") and bool(sorts(lemma)) and bool(sorts(other))


def actions(sentence: TaggedSentence, random: Random) -> Iterator[str]:
    """Texts with one verb replaced, in random order; opposites before others."""
    places = [at for at, word in enumerate(sentence.words) if word.tag.startswith("VB") and _verb_is_free(sentence, at)]
    random.shuffle(places)
    for at in places:
        word = sentence.words[at]
        lemma = base_form(word.text, word.tag)
        # To have and to do are auxiliaries as well, and no tag tells for sure.
        if lemma is None or lemma in CLOSED_CLASS or not plain(lemma, word.tag):
            continue
        for other in _other_verbs(lemma, random):
            form = inflected(other, word.tag)
            if form and form != word.lower and _whichever_past(lemma, other):
                yield sentence.exchanged(at, form)


def _verb_is_free(sentence: TaggedSentence, at: int) -> bool:
    """True if the word is a verb beyond doubt (press reports, a proposed map) with its object right behind it."""
    before, after = sentence.tag(at - 1), sentence.tag(at + 1)
    match sentence.tag(at):
        case "VB" | "VBP":
            subject = before in ("TO", "MD", "PRP", "NNS", "RB")
        case "VBD" | "VBZ":
            subject = before in ("NN", "NNS", "NNP", "PRP", "RB", "WDT", "WP", ",")
        case _:
            subject = before not in ("DT", "PRP$", "JJ", "NN", "IN", "CC")
    return subject and after in ("DT", "PRP$", "NNP", "CD", *(("NNS",) if sentence.tag(at) != "VBG" else ()))


def _other_verbs(lemma: str, random: Random) -> list[str]:
    words = lexicon()
    opposites = [
        one for one in sorted(words.opposites(lemma, "v")) if one.isalpha() and words.frames(one) & _WITH_OBJECT
    ]
    siblings = [
        one
        for one in words.siblings(lemma, "v")
        if plain(one, "VB") and _takes_same_objects(lemma, one) and words.relation(lemma, one) is None
    ][:_MOST_VERBS]
    random.shuffle(opposites)
    random.shuffle(siblings)
    return [*opposites, *(one for one in siblings if one not in opposites)]


def _takes_same_objects(one: str, other: str) -> bool:
    """True if both take the same objects in their commonest meanings."""
    shared = lexicon().frames(one) & _WITH_OBJECT
    return bool(shared) and shared <= lexicon().frames(other)


def _whichever_past(one: str, other: str) -> bool:
    """True if past and participle are one form of the new verb if of the old: their tags are easily confused."""
    return (inflected(one, "VBD") == inflected(one, "VBN")) <= (inflected(other, "VBD") == inflected(other, "VBN"))
