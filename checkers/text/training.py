"""Learns how tags follow each other, without tagged text: from the examples that WordNet gives of its words.

Baum and Welch's algorithm on a hidden Markov model whose tags are kept to what the lexicon allows. The word that an
example is there to show is known by its part of speech, which is what keeps the rest on course.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from checkers.text.closed_class import CLOSED_CLASS_TAGS
from checkers.text.lexicon import Lexicon
from checkers.text.packed import Pos
from checkers.text.tagger import BOUNDARY, PART_TAGS, TAGS, TaggerModel, emissions, tag_weights
from checkers.text.tokens import tokens

_ROUNDS = 8
# Added to every count, so that nothing is impossible.
_SMOOTHING = 0.5
_DIGITS = 8


class SenseExample(NamedTuple):
    """A text, and the words (in lower case) of one part of speech that it shows in use."""

    text: str
    shown: frozenset[str]
    pos: Pos


class _Sentence(NamedTuple):
    words: tuple[str, ...]
    anchors: Mapping[int, frozenset[str]]
    """Tags that are possible at some places, counted from 0, because an example is there to show them."""


class _Expected(NamedTuple):
    transitions: defaultdict[str, defaultdict[str, float]]
    tags: defaultdict[str, float]
    words: defaultdict[str, defaultdict[str, float]]


def _counts() -> defaultdict[str, float]:
    return defaultdict(float)


def train(examples: Iterable[SenseExample], words: Lexicon) -> TaggerModel:
    """The model under which the examples are likeliest, as far as a fixed number of rounds finds it."""
    cuts = ((example, [token.text for token in tokens(example.text)]) for example in examples)
    sentences = [_Sentence(tuple(cut), _anchors(cut, example, words)) for example, cut in cuts if cut]
    even = 1 / len(TAGS)
    shares = dict.fromkeys(TAGS, even)
    model = TaggerModel(
        {before: dict.fromkeys((*TAGS, BOUNDARY), even) for before in (*TAGS, BOUNDARY)},
        shares,
        {word: tag_weights(word, words, shares) for word in CLOSED_CLASS_TAGS},
    )
    for _ in range(_ROUNDS):
        expected = _Expected(defaultdict(_counts), _counts(), defaultdict(_counts))
        for sentence in sentences:
            _count(sentence, words, model, expected)
        model = _likeliest(expected, model)
    return model


def _anchors(cut: list[str], example: SenseExample, words: Lexicon) -> dict[int, frozenset[str]]:
    tags = PART_TAGS[example.pos]
    return {at: tags for at, word in enumerate(cut) if words.lemmas(word, example.pos) & example.shown}


def _count(sentence: _Sentence, words: Lexicon, model: TaggerModel, expected: _Expected) -> None:
    """Add how often each tag and each step is to be expected in one sentence (forward and backward)."""
    columns = [{BOUNDARY: 1.0}, *emissions(sentence.words, words, model), {BOUNDARY: 1.0}]
    for at, among in sentence.anchors.items():
        columns[at + 1] = {tag: p for tag, p in columns[at + 1].items() if tag in among} or columns[at + 1]
    steps = model.transitions
    forward = [columns[0]]
    for column in columns[1:]:
        last = forward[-1]
        raw = {tag: weight * sum(p * steps[b][tag] for b, p in last.items()) for tag, weight in column.items()}
        total = sum(raw.values())
        forward.append({tag: p / total for tag, p in raw.items()})
    backward = {BOUNDARY: 1.0}
    for at in range(len(columns) - 1, 0, -1):
        after = {tag: columns[at][tag] * p for tag, p in backward.items()}
        joint = {
            (before, tag): forward[at - 1][before] * steps[before][tag] * p
            for before in columns[at - 1]
            for tag, p in after.items()
        }
        total = sum(joint.values())
        for (before, tag), p in joint.items():
            expected.transitions[before][tag] += p / total
            if tag != BOUNDARY:
                expected.tags[tag] += p / total
                word = sentence.words[at - 1].lower()
                if word in CLOSED_CLASS_TAGS:
                    expected.words[word][tag] += p / total
        raw = {before: sum(steps[before][tag] * p for tag, p in after.items()) for before in columns[at - 1]}
        total = sum(raw.values())
        backward = {before: p / total for before, p in raw.items()}


def _likeliest(expected: _Expected, model: TaggerModel) -> TaggerModel:
    return TaggerModel(
        {before: _normal(expected.transitions[before], model.transitions[before]) for before in model.transitions},
        _normal(expected.tags, model.shares),
        {word: _normal(expected.words[word], allowed) for word, allowed in model.words.items()},
    )


def _normal(counts: Mapping[str, float], among: Iterable[str]) -> dict[str, float]:
    smoothed = {tag: counts.get(tag, 0.0) + _SMOOTHING for tag in among}
    total = sum(smoothed.values())
    return {tag: round(count / total, _DIGITS) for tag, count in smoothed.items()}
