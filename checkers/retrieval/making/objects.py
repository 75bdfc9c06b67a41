"""Object substitution: a noun gives way to another kind of the same thing, in the same number."""

from collections.abc import Iterator
from random import Random

from checkers.retrieval.making.inflection import article, base_form, inflected, like, part
from checkers.retrieval.making.sentences import Sentence
from checkers.text.lexicon import lexicon

COUNTED = ("person", "animal", "vehicle", "structure", "device", "garment", "organ", "document", "organization", "room")
"""Things that are counted one by one: what is a kind of these has a plural and takes "a"."""

_MOST_OFFERED = 8
_PURE = 0.9
_COMMON = 2


def objects(sentence: Sentence, random: Random) -> Iterator[str]:
    """Texts with one noun replaced, in random order."""
    places = [at for at, word in enumerate(sentence.words) if word.tag in ("NN", "NNS") and _free(sentence, at)]
    random.shuffle(places)
    for at in places:
        word = sentence.words[at]
        lemma = base_form(word.text, word.tag)
        if lemma is None or not plain(lemma, word.tag):
            continue
        offered = [one for one in lexicon().siblings(lemma, "n") if _fits(one, lemma)][:_MOST_OFFERED]
        random.shuffle(offered)
        for other in offered:
            form = inflected(other, word.tag)
            if form and form != word.lower:
                yield sentence.replaced({at: like(form, word.text), **_with_article(sentence, at, form)})


def plain(lemma: str, tag: str) -> bool:
    """Whether a reader would take the word for this part of speech first, and has met it."""
    counts = lexicon().senses(lemma) if lemma.isalpha() else {}
    own = counts.get(part(tag), 0)
    return own >= _COMMON and own >= _PURE * sum(counts.values())


def sorts(lemma: str) -> frozenset[str]:
    """Which of the things that are counted one by one the noun is a kind of."""
    return frozenset(thing for thing in COUNTED if lexicon().is_a(lemma, thing, "n"))


def _free(sentence: Sentence, at: int) -> bool:
    """Whether the noun stands for itself: no part of a compound or of a fixed phrase (in front of, at last)."""
    return (
        sentence.tag(at - 1) in ("DT", "PRP$", "JJ", "CD")
        and sentence.tag(at + 1) in (".", ",", "IN", "CC", "VBD", "VBZ", "MD", "WP", "WDT", "")
        and sentence.lower(at + 1) not in ("of", "that", "to")
    )


def _fits(other: str, lemma: str) -> bool:
    words = lexicon()
    if words.written(other) != other or not plain(other, "NN"):
        return False
    if words.relation(lemma, other) not in (None, "antonym"):
        return False
    return _counted(lemma) and _counted(other)


def _counted(lemma: str) -> bool:
    return bool(sorts(lemma))


def _with_article(sentence: Sentence, at: int, form: str) -> dict[int, str]:
    if sentence.lower(at - 1) not in ("a", "an"):
        return {}
    before = sentence.words[at - 1].text
    return {at - 1: like(article(form), before)}
