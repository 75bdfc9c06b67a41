"""Parts of speech in context: the likeliest tags under a hidden Markov model over what the lexicon allows."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

from models.text.closed_class import CLOSED_CLASS
from models.text.lexicon import Lexicon, lexicon
from models.text.packed import PARTS_OF_SPEECH, Pos
from models.text.tokens import FIGURE, FIGURE_ENDING

BOUNDARY = "#"
"""What stands before the first and after the last word."""

# A word of an open class can be any part of speech that the lexicon has it as. It counts as seen this often besides,
# with the tags as frequent as they are of all words.
_UNSEEN = 4.0

_TAGS: dict[tuple[Pos, str | None], tuple[str, ...]] = {
    ("n", None): ("NN",),
    ("n", "NNS"): ("NNS",),
    ("v", None): ("VB", "VBP"),
    ("v", "VBZ"): ("VBZ",),
    ("v", "VBP"): ("VBP",),
    ("v", "VBD"): ("VBD",),
    ("v", "VBN"): ("VBN",),
    ("v", "VBG"): ("VBG",),
    ("a", None): ("JJ",),
    ("a", "JJR"): ("JJR",),
    ("a", "JJS"): ("JJS",),
    ("r", None): ("RB",),
    ("r", "RBR"): ("RBR",),
    ("r", "RBS"): ("RBS",),
}

_NUMBER = re.compile(rf"[-+]?[$€£¥]?(?:{FIGURE}(?:/\d+)*|\.\d+)(?:{FIGURE_ENDING}|%)?")
_PUNCTUATION = (
    (re.compile(r"[.?!]+|…"), "."),
    (re.compile(r","), ","),
    (re.compile(r"[(\[{]|-l[rsc]b-"), "-LRB-"),
    (re.compile(r"[)\]}]|-r[rsc]b-"), "-RRB-"),
    (re.compile(r"[\"'`“”‘’]+"), "''"),
    (re.compile(r"[^\w\s]+"), ":"),
)

_UNKNOWN = (
    (re.compile(r".+-.+"), {"JJ": 5, "NN": 4, "NNS": 1}),
    (re.compile(r"(?s).{2,}ly"), {"RB": 8, "JJ": 1, "NN": 1}),
    (re.compile(r"(?s).{2,}ing"), {"VBG": 7, "NN": 3}),
    (re.compile(r"(?s).{2,}ed"), {"VBD": 4, "VBN": 4, "JJ": 2}),
    (re.compile(r"(?s).{2,}(?:ous|ful|ible|able|ish|less|ic|al|ive)"), {"JJ": 8, "NN": 2}),
    (re.compile(r"(?s).{2,}[^s]s"), {"NNS": 7, "NN": 2, "VBZ": 1}),
    (re.compile(r"(?s).*"), {"NN": 30, "JJ": 2, "NNS": 1, "VB": 0.5}),
)
"""Tags of a word that the lexicon lacks, by its ending; most such words are names."""

_NAME = {"NNP": 1.0}
_NAME_OR_ADJECTIVE = {"NNP": 0.7, "JJ": 0.3}
"""With a capital inside a sentence: American may be either."""

PART_TAGS: dict[Pos, frozenset[str]] = {
    pos: frozenset(tag for (part, _), tags in _TAGS.items() if part == pos for tag in tags) for pos in PARTS_OF_SPEECH
}
"""The tags that words of a part of speech have."""


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """What is learned from text: which tag follows which, and how often each one is, alone and of a function word."""

    transitions: Mapping[str, Mapping[str, float]]
    """The probability of a tag (or the end), by the tag before it (or the start)."""
    shares: Mapping[str, float]
    """The probability of a tag."""
    words: Mapping[str, Mapping[str, float]]
    """The probability of a tag, by function word."""


def _open_class_weights(lower: str, words: Lexicon, shares: Mapping[str, float]) -> dict[str, float]:
    """Tags that a word of no closed class may have, with weights that add up to 1, whatever stands around it."""
    fixed = _fixed(lower)
    if fixed is not None:
        return {fixed: 1.0}
    weights: dict[str, float] = {}
    allowed: set[str] = set()
    for pos, count in words.senses(lower).items():
        tags = {tag for _, part, form in words.analyses(lower) if part == pos for tag in _TAGS[pos, form]}
        allowed |= tags
        # The count is of all forms together: these have only their part of it.
        of_all = sum(shares[tag] for tag in PART_TAGS[pos])
        of_these = sum(shares[tag] for tag in tags)
        _spread(count * of_these / of_all, sorted(tags), shares, weights)
    _spread(_UNSEEN, sorted(allowed), shares, weights)
    if not weights:
        weights = dict(next(tags for pattern, tags in _UNKNOWN if pattern.fullmatch(lower)))
    total = sum(weights.values())
    return {tag: weight / total for tag, weight in weights.items()}


def _spread(count: float, tags: Sequence[str], shares: Mapping[str, float], weights: dict[str, float]) -> None:
    total = sum(shares[tag] for tag in tags)
    for tag in tags:
        weights[tag] = weights.get(tag, 0.0) + count * shares[tag] / total


def _fixed(word: str) -> str | None:
    if _NUMBER.fullmatch(word):
        return "CD"
    if any(character.isalnum() for character in word):
        return None
    return next((tag for pattern, tag in _PUNCTUATION if pattern.fullmatch(word)), None)


def emissions(words: Sequence[str], known: Lexicon, model: TaggerModel) -> list[dict[str, float]]:
    """For each word of a sentence, how much likelier each of its tags is for it than for any word."""
    # In a text without small letters, or with nothing else, a capital tells nothing.
    cased = any(word[0].islower() for word in words)
    return [
        {tag: weight / model.shares[tag] for tag, weight in _weights(word, known, model, name=cased and at > 0).items()}
        for at, word in enumerate(words)
    ]


def _weights(word: str, known: Lexicon, model: TaggerModel, *, name: bool) -> Mapping[str, float]:
    lower = word.lower()
    if name and word[0].isupper() and lower not in CLOSED_CLASS:
        return _NAME_OR_ADJECTIVE if "a" in known.senses(lower) else _NAME
    return model.words.get(lower) or _open_class_weights(lower, known, model.shares)


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence as the tagger understands it."""

    tags: tuple[str, ...]
    fit: float
    """How well the words go together: the logarithm of their probability over that of the same words in any order.

    How common a word is does not count, so that sentences that differ in a word can be compared.
    """


@cache
def _model() -> TaggerModel:
    return TaggerModel(**json.loads(lexicon().tagging))


def tag_words(words: Sequence[str]) -> tuple[str, ...]:
    """The Penn Treebank tag of each word of one sentence, which may be in lower case.

    Words are as `tokens` cuts them: punctuation stands alone, contractions are two words (do, n't).
    """
    return read_words(words).tags


def read_words(words: Sequence[str]) -> TaggedSentence:
    """The likeliest tags of a sentence's words, and how well they fit together."""
    model = _model()
    return _best_tags(emissions(words, lexicon(), model), model)


def _best_tags(columns: Sequence[Mapping[str, float]], model: TaggerModel) -> TaggedSentence:
    """The likeliest path through the tags that each place may have (Viterbi)."""
    best = {BOUNDARY: 1.0}
    came: list[dict[str, str]] = []
    fit = 0.0
    for column in (*columns, {BOUNDARY: 1.0}):
        steps = {tag: max((p * model.transitions[before][tag], before) for before, p in best.items()) for tag in column}
        came.append({tag: before for tag, (_, before) in steps.items()})
        raw = {tag: p * column[tag] for tag, (p, _) in steps.items()}
        # Scaled, so that a long sentence does not fall below what a float can hold.
        top = max(raw.values())
        fit += log(top)
        best = {tag: p / top for tag, p in raw.items()}
    path = [BOUNDARY]
    for back in reversed(came):
        path.append(back[path[-1]])
    return TaggedSentence(tuple(reversed(path[1:-1])), fit)
