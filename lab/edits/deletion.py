"""Word deletion: what only narrows the sense is taken out, and what is left is a sentence still."""

from collections.abc import Iterator
from random import Random

from lab.edits.sentence import TaggedSentence
from models.text.articles import indefinite_article
from models.text.closed_class import QUANTIFIERS

_NOUNS = ("NN", "NNS")
_MOST_OF_A_PHRASE = 5
"""Words of a phrase at the end that may go; a longer one is hardly one phrase."""


def deletions(sentence: TaggedSentence, random: Random) -> Iterator[str]:
    """Texts with one modifier less, in random order."""
    made = [*_adjectives(sentence), *_adverbs(sentence), *_last_phrase(sentence)]
    random.shuffle(made)
    yield from made


def _adjectives(sentence: TaggedSentence) -> Iterator[str]:
    for at, word in enumerate(sentence.words):
        narrows = (
            word.tag == "JJ"
            and word.text.isalpha()
            and word.lower not in QUANTIFIERS
            and sentence.tag(at + 1) in _NOUNS
        )
        if narrows and sentence.tag(at - 1) in ("DT", "PRP$", "IN", "VBZ", "VBD") and _article_stays(sentence, at):
            yield sentence.without(at, at)


def _adverbs(sentence: TaggedSentence) -> Iterator[str]:
    for at, word in enumerate(sentence.words):
        between = sentence.tag(at - 1).startswith(("VB", "MD", "NN", "PRP")) and sentence.tag(at + 1) in (
            "VBD",
            "VBN",
            "VB",
            "VBZ",
            "JJ",
        )
        if word.tag == "RB" and word.lower.endswith("ly") and between:
            yield sentence.without(at, at)


def _last_phrase(sentence: TaggedSentence) -> Iterator[str]:
    """Without the prepositional phrase at the end, where a noun before it has its verb already."""
    last = len(sentence.words) - 1
    if last < 0 or sentence.words[last].text not in ".!":
        return
    for at in range(last - 1, max(last - 1 - _MOST_OF_A_PHRASE, 0), -1):
        tag = sentence.tag(at)
        if tag == "IN" and sentence.lower(at) in ("in", "at", "on", "during", "after", "before", "near"):
            if sentence.tag(at - 1) in (*_NOUNS, "NNP") and _has_verb(sentence, at):
                yield sentence.without(at, last - 1)
            return
        if not tag.startswith(("NN", "DT", "JJ", "CD", "PRP$")):
            return


def _has_verb(sentence: TaggedSentence, before: int) -> bool:
    """True if a verb with an object stands before: one that is followed by the phrase alone may need it (lies in)."""
    verbs = [at for at in range(before) if sentence.tag(at) in ("VBD", "VBZ", "VBP")]
    return bool(verbs) and before - verbs[-1] > 2 and sentence.lower(verbs[-1]) not in ("is", "are", "was", "were")


def _article_stays(sentence: TaggedSentence, at: int) -> bool:
    before = sentence.lower(at - 1)
    if before not in ("a", "an"):
        return True
    return sentence.tag(at + 1) == "NN" and indefinite_article(sentence.words[at + 1].text) == before
