"""Action substitution: a verb gives way to its opposite, or to another kind of the same doing, in the same form."""

from collections.abc import Iterator
from random import Random

from checkers.retrieval.making.inflection import base_form, inflected, like
from checkers.retrieval.making.objects import plain
from checkers.retrieval.making.sentences import Sentence
from checkers.text.closed_class import CLOSED_CLASS_TAGS
from checkers.text.lexicon import lexicon

WITH_OBJECT = frozenset({8, 9, 10, 11})
"""WordNet's sentence frames (wninput(5)) of somebody or something that does something to somebody or something."""

_MOST_OFFERED = 6


def actions(sentence: Sentence, random: Random) -> Iterator[str]:
    """Texts with one verb replaced, in random order; opposites before others."""
    places = [at for at, word in enumerate(sentence.words) if word.tag.startswith("VB") and _free(sentence, at)]
    random.shuffle(places)
    for at in places:
        word = sentence.words[at]
        lemma = base_form(word.text, word.tag)
        # To have and to do are auxiliaries as well, and no tag tells for sure.
        if lemma is None or lemma in CLOSED_CLASS_TAGS or not plain(lemma, word.tag):
            continue
        for other in _others(lemma, random):
            form = inflected(other, word.tag)
            if form and form != word.lower and _whichever_past(lemma, other):
                yield sentence.replaced({at: like(form, word.text)})


def _free(sentence: Sentence, at: int) -> bool:
    """Whether the word is a verb beyond doubt (press reports, a proposed map) with its object right behind it."""
    before, after = sentence.tag(at - 1), sentence.tag(at + 1)
    match sentence.tag(at):
        case "VB" | "VBP":
            subject = before in ("TO", "MD", "PRP", "NNS", "RB")
        case "VBD" | "VBZ":
            subject = before in ("NN", "NNS", "NNP", "PRP", "RB", "WDT", "WP", ",")
        case _:
            subject = before not in ("DT", "PRP$", "JJ", "NN", "IN", "CC")
    return subject and after in ("DT", "PRP$", "NNP", "CD", *(("NNS",) if sentence.tag(at) != "VBG" else ()))


def _others(lemma: str, random: Random) -> list[str]:
    words = lexicon()
    opposites = [
        one for one in sorted(words.opposites(lemma, "v")) if one.isalpha() and words.frames(one) & WITH_OBJECT
    ]
    siblings = [
        one
        for one in words.siblings(lemma, "v")
        if plain(one, "VB") and _alike(lemma, one) and words.relation(lemma, one) is None
    ][:_MOST_OFFERED]
    random.shuffle(opposites)
    random.shuffle(siblings)
    return [*opposites, *(one for one in siblings if one not in opposites)]


def _alike(one: str, other: str) -> bool:
    """Whether both take the same objects in their commonest meanings."""
    shared = lexicon().frames(one) & WITH_OBJECT
    return bool(shared) and shared <= lexicon().frames(other)


def _whichever_past(one: str, other: str) -> bool:
    """Whether past and participle are one form of the new verb if of the old: their tags are easily confused."""
    return (inflected(one, "VBD") == inflected(one, "VBN")) <= (inflected(other, "VBD") == inflected(other, "VBN"))
