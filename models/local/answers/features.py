"""What was found in a passage about a question, as numbers that a regression weighs, and as faults that decide.

The sentence that is likeliest to hold the answer is looked for first, its home: near the question by the model's own
vectors, which were trained to find answers to questions, with the question's words and a thing of the sort asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from models.local.alignment import align
from models.local.answers.contradictions import Beside, contradictions, missing
from models.local.answers.things import DECISIVE, FINDERS, things_of
from models.local.encoded_text import Draft, Encoded, Indices, Numbers, encoded_text
from models.local.entailment.likeness import related, rivals
from models.local.faults import ClaimFault
from models.text.closed_class import PRONOUNS
from models.text.lexicon import WordRelation
from models.text.opposites import opposed
from models.text.questions import Asked

LOST, EXACT = 0.5, 0.85
"""Likeness below which a word of the question has no counterpart, and from which it is found."""

WORTH: Mapping[WordRelation, float] = {
    "same": 0.9,
    "synonym": 0.85,
    "derived": 0.85,
    "narrower": 0.7,
    "broader": 0.5,
    "antonym": 0.0,
}
"""What a word of the passage is worth at least by the lexicon; an opposite is worth nothing."""

COMPARED = 6
"""Closest words of the passage for which the lexicon is asked, a word of the question."""

COVER, SORT = 0.5, 0.15
"""What all of the question's words, and a thing of the sort, count for a sentence to be the home, beside its cosine."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found in a passage about a question."""

    values: Mapping[str, float]
    """The features, by name; each says what it is in `evidence`."""
    home: int
    """The passage's sentence that is likeliest to hold the answer."""
    lost: tuple[str, ...]
    """Words of the question without a counterpart."""
    faults: tuple[ClaimFault, ...]
    """What keeps the passage from answering, whatever the features say."""


def evidence(question: Encoded, asked: Asked, passage: Encoded, near: Numbers) -> Evidence | None:
    """None where one of the texts has no words; `near` is the cosine of the question with each of the sentences."""
    question = _without(question, asked.focus)
    kept: list[Numbers] = []

    def amend(claim: Encoded, reference: Encoded, likeness: Numbers) -> None:
        by_lexicon(claim, reference, likeness)
        kept.append(likeness)

    path = align(question, passage, amend)
    if path is None:
        return None
    by_sentence = _by_sentence(kept[0], passage, len(near))
    own = frozenset(word.stem for word in question.words)
    sorts = np.zeros(len(near), dtype=bool)
    sorts[[int(passage.owners[at]) for at in things_of(asked.sort, passage, own)]] = True
    cover = by_sentence.mean(axis=0)
    home = int((near + COVER * cover + SORT * sorts).argmax())
    beside = range(max(0, home - 1), min(len(near), home + 2))
    has_sort = bool(sorts[beside.start : beside.stop].any())
    closest = by_sentence.max(axis=1)
    likeness = dict(zip(question.content.tolist(), closest.tolist(), strict=True))
    found = [*contradictions(question, asked.sort, passage, path, Beside(beside, likeness))]
    if not has_sort and (fault := missing(asked.sort)) is not None:
        found.append(fault)
    lost = tuple(question.words[at].surface for at, like in likeness.items() if like < LOST)
    cosines = question.vectors[question.content] @ passage.vectors[passage.content].T
    names = [like for at, like in likeness.items() if at and question.words[at].surface[0].isupper()]
    nameless = sum(like < EXACT for like in names) / max(1, len(names))
    values = {
        # Cosines of the question with the home, and with the nearest sentence.
        "near": float(near[home]),
        "nearest": float(near.max()),
        # How far its words are found at home, there and beside it, and anywhere.
        "cover_home": float(cover[home]),
        "cover_beside": float(by_sentence[:, beside.start : beside.stop].max(axis=1).mean()),
        "cover": float(closest.mean()),
        "worst": float(closest.min()),
        "exact": float((closest >= EXACT).mean()),
        "lost": len(lost) / len(likeness),
        "recall": float(np.round(cosines.max(axis=1).mean(), 3)),
        # Share of its names that are not found, and the same where a pronoun may stand for them.
        "nameless": nameless,
        "pronoun": nameless * _refers(passage, beside),
        # A word is not found, and one that excludes it is.
        "rival": float(_has_rival(question, passage, likeness, beside)),
        **{f"no_{sort}": float(asked.sort == sort and not has_sort) for sort in FINDERS if sort not in DECISIVE},
        # A thing of the sort is not at home but beside it.
        **{f"away_{sort}": float(asked.sort == sort and has_sort and not sorts[home]) for sort in FINDERS},
    }
    return Evidence(values, home, lost, tuple(found))


def by_lexicon(question: Encoded, passage: Encoded, likeness: Numbers) -> None:
    """Raise the likeness of words that the lexicon relates, and take it from opposites."""
    said, there = ([text.words[at].surface.lower() for at in text.content] for text in (question, passage))
    narrowed: Indices = np.full(len(said), -1, dtype=np.int64)
    for row, one in enumerate(said):
        for column in np.argsort(-likeness[row], kind="stable")[:COMPARED].tolist():
            relation = related(there[column], one)
            if relation == "antonym" or (relation is None and opposed(one, there[column])):
                likeness[row, column] = 0.0
            elif relation is not None:
                likeness[row, column] = max(likeness[row, column], WORTH[relation])
                if relation == "narrower":
                    narrowed[row] = column
    # One word may say what a noun and the word before it say: headquarters, the head office.
    for row, column in enumerate(narrowed.tolist()):
        is_compound = row > 0 and question.content[row] - question.content[row - 1] == 1
        if is_compound and column >= 0 and likeness[row].max() <= WORTH["narrower"]:
            likeness[row - 1, column] = max(likeness[row - 1, column], WORTH["narrower"])


def _without(text: Encoded, left_out: frozenset[int]) -> Encoded:
    """The text, its words at some places no longer looked for."""
    words = tuple(replace(word, content=word.content and at not in left_out) for at, word in enumerate(text.words))
    return encoded_text(Draft(text.passages, "", words, tuple(text.owners.tolist()), ()), text.vectors, text.gists)


def _by_sentence(likeness: Numbers, passage: Encoded, sentences: int) -> Numbers:
    """(words of the question, sentences): the likeness of the closest word of each sentence."""
    owners = passage.owners[passage.content]
    closest = np.zeros((len(likeness), sentences), dtype=np.float32)
    for sentence in np.unique(owners).tolist():
        closest[:, sentence] = likeness[:, owners == sentence].max(axis=1)
    return closest


def _refers(passage: Encoded, sentences: range) -> bool:
    return any(
        word.surface.lower() in PRONOUNS and sentence in sentences
        for word, sentence in zip(passage.words, passage.owners, strict=True)
    )


def _has_rival(question: Encoded, passage: Encoded, likeness: Mapping[int, float], sentences: range) -> bool:
    own = {word.surface.lower() for word in question.words}
    there = {passage.words[at].surface.lower() for at in passage.content if passage.owners[at] in sentences} - own
    unfound = [question.words[at].surface.lower() for at, like in likeness.items() if like < EXACT]
    return any(rivals(one, other) for one in unfound for other in there)
