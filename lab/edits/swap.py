"""Word swap: two words of one sort change places, so that each says of the other what was said of itself."""

import itertools
from collections.abc import Iterator
from random import Random

from lab.edits.forms import base_form, like
from lab.edits.sentence import TaggedSentence, number_at
from lab.edits.substitution import sorts
from models.text.articles import indefinite_article

_SORTS = ("NNP", "CD", "JJ", "NN", "NNS")
_JOINING = frozenset({"and", "or", "nor", "&", "/", "-", "–"})
_NOUNS = ("NN", "NNS", "NNP", "NNPS")


def swaps(sentence: TaggedSentence, random: Random) -> Iterator[str]:
    """Texts with two words exchanged, in random order."""
    pairs = [
        (one, other)
        for sort in _SORTS
        for one, other in itertools.combinations(_places(sentence, sort), 2)
        if _differ(sentence, one, other)
    ]
    random.shuffle(pairs)
    for one, other in pairs:
        first, second = sentence.words[one], sentence.words[other]
        if first.tag in ("JJ", "NN", "NNS"):
            # What begins the sentence has its capital from there.
            yield sentence.replaced({one: like(second.lower, first.text), other: like(first.lower, second.text)})
        else:
            yield sentence.replaced({one: second.text, other: first.text})


def _places(sentence: TaggedSentence, sort: str) -> list[int]:
    return [at for at, word in enumerate(sentence.words) if word.tag == sort and _alone(sentence, at, sort)]


def _alone(sentence: TaggedSentence, at: int, sort: str) -> bool:
    """True if the word can be taken from its place: no part of a name, a compound or a date, none of a row."""
    before, after = sentence.tag(at - 1), sentence.tag(at + 1)
    if sentence.lower(at - 1) in _JOINING or sentence.lower(at + 1) in _JOINING:
        return False
    match sort:
        case "JJ":
            # "the last quarter": an adjective between what determines its noun and the noun.
            return before in ("DT", "PRP$") and after in ("NN", "NNS") and sentence.tag(at + 2) not in _NOUNS
        case "NN" | "NNS":
            return (
                before in ("DT", "PRP$", "JJ")
                and after not in (*_NOUNS, "POS", "CD", "IN", ",")
                and bool(_sorts(sentence, at))
            )
        case "NNP":
            return _is_name(sentence, at) and not {before, after} & {*_NOUNS, "CD", ",", "POS"}
        case _:
            return before not in _NOUNS and number_at(sentence, at) is not None


def _differ(sentence: TaggedSentence, one: int, other: int) -> bool:
    """True if the exchange changes what is said: the two are no members of one list, and other words."""
    first, second = sentence.words[one], sentence.words[other]
    between = {sentence.lower(at) for at in range(one + 1, other)}
    if first.lower == second.lower or other - one < 3 or between <= {",", "and", "or", "the", "a", "an", "to"}:
        return False
    articles = all(
        sentence.lower(at - 1) not in ("a", "an") or indefinite_article(new) == sentence.lower(at - 1)
        for at, new in ((one, second.text), (other, first.text))
    )
    if first.tag == "JJ" and sentence.tag(one - 1) != sentence.tag(other - 1):
        # "his own", but not "the own".
        return False
    if first.tag == "CD":
        return _same_sort_of_number(number_at(sentence, one), number_at(sentence, other))
    return articles and (first.tag not in ("NN", "NNS") or bool(_sorts(sentence, one) & _sorts(sentence, other)))


def _is_name(sentence: TaggedSentence, at: int) -> bool:
    """True if the word is a name by its letters too, and the words beside it are no part of it."""
    beside = [sentence.words[place].text for place in (at - 1, at + 1) if 0 < place < len(sentence.words)]
    text = sentence.words[at].text
    return text.isalpha() and text[0].isupper() and len(text) > 2 and not any(word[0].isupper() for word in beside)


def _sorts(sentence: TaggedSentence, at: int) -> frozenset[str]:
    lemma = base_form(sentence.words[at].text, sentence.tag(at))
    return sorts(lemma) if lemma else frozenset()


def _same_sort_of_number(one: tuple[str, str, str] | None, other: tuple[str, str, str] | None) -> bool:
    """1871 stands where a year stands, 12 where a dozen does, $5 among prices; one and many keep their nouns."""
    if one is None or other is None:
        return False
    same_unit = one[::2] == other[::2]
    return same_unit and (len(one[1]) == 4) == (len(other[1]) == 4) and "1" not in (one[1], other[1])
