"""Whether two texts mean the same: by how the words of each stand in the other.

The weights are set by hand. The network that judges claims ranks paraphrases and exchanged words worse: it learned from
pairs of which hardly any were made as paraphrases.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

import numpy as np

from models.claims import SUPPORTED, Claims, Judgement
from models.local.alignment import WordPath, align
from models.local.encoded_text import Encoded, joined, split
from models.local.guards import contradict, facts, lost_words, objections, opposites, same_root


@dataclass(frozen=True, slots=True)
class Weights:
    """Log-odds: what equal texts have, and what is taken off."""

    bias: float = 2.5
    miss: float = 10.0
    """Taken off when no word of one text has a counterpart in the other; in between in proportion."""
    jump: float = 20.0
    """Taken off when no two neighbours of one stand together in the other; in between in proportion."""
    prior: float = 3.0
    """Words found in place that are taken for granted, so that one odd word does not decide a short text."""
    power: float = 2.0
    """Above 1 one word without any counterpart says more than several that have a near one."""
    literal: float = 0.0
    """Above 0 jumps count the less the more words miss: exponent of the share of words that is found."""
    objection: float = 0.5
    """Taken off for each figure, date or denial of one that the other does not have: either may be more precise."""
    swap: float = 1.5
    """Taken off when two names or figures of one trade places in the other."""


SENTENCES = Weights()

PHRASES = Weights(bias=4.2, jump=30.0, literal=4.0)
"""They need only be able to mean the same. The more words differ the less their order says: it tells who did what to
whom where the words are the same, and little where a text was put freely."""

AROUND = replace(PHRASES, bias=SENTENCES.bias)
"""The sentences around phrases have to mean the same, not only be able to."""

CONTEXT = 3.0
"""Weight of the log-odds that the sentences around two phrases say the same."""

CONTRADICTION = 5.0
"""Taken off where phrases contradict each other and all other words are found; in between in proportion to their
share's square, as a word that stands against another says little where nothing else is the same."""

EXACT = 0.9
"""Likeness from which a word is the same word."""

COMPANY = 0.2
"""Likeness from which a name stands in the place of another one: below, there is none for it."""

TURNING = frozenset("by was were is are been being and with or according".split())
"""Words that let names trade places without another meaning: passives, lists and attributions."""

UNEVEN = 0.5
"""Weight of the worse direction beyond the mean of the two: 1 would be the worse one alone."""

SLOW_RISE = 1.5
"""Exponent by which support rises above 0.5; 1 would be straight."""

NOTHING_FOUND = -4.0
"""Log-odds where one of the texts has no words."""


def judge_paraphrase(sentences: Sequence[Encoded], reference: Encoded) -> list[Judgement]:
    """A judgement of each sentence; all of them together are held against each sentence of the reference."""
    written, parts = [sentence for sentence in sentences if sentence.words], split(reference)
    whole = joined(written) if written else None
    back = fmean(_found_in(part, whole, SENTENCES) for part in parts) if whole and parts else NOTHING_FOUND
    return [_paraphrased(sentence, reference, back) for sentence in sentences]


def _paraphrased(sentence: Encoded, reference: Encoded, back: float) -> Judgement:
    if not sentence.words or not reference.words:
        return Judgement(0.0, "there is nothing to compare" if reference.words else "the reference is empty", None)
    support = _graded(_together(_found_in(sentence, reference, SENTENCES), back), SENTENCES)
    path = align(sentence, reference)
    passage = reference.passages[0 if path is None else path.home(reference)]
    return Judgement(support, why(sentence, reference, passage, supported=support >= SUPPORTED), passage)


def judge_phrases(claims: Claims, texts: Mapping[str, Encoded]) -> list[Judgement]:
    """A judgement of each phrase; how near the sentences around are tells if the two speak of the same thing."""
    context = 0.0
    if claims.around is not None:
        first, second = (texts[sentence] for sentence in claims.around)
        context = CONTEXT * _both(first, second, AROUND)
    return [_phrase(claims.reference, phrase, texts, context) for phrase in claims.sentences]


def _phrase(reference: str, phrase: str, texts: Mapping[str, Encoded], context: float) -> Judgement:
    # In a fixed order: it is one question, whichever phrase is named first.
    first, second = (texts[text] for text in sorted((reference, phrase)))
    if first.words and [word.stem for word in first.words] == [word.stem for word in second.words]:
        return Judgement(1.0, "the phrases are the same", reference)
    against = contradict(*(facts(" ".join(text.passages)) for text in (first, second))) or _rivals(first, second)
    doubt = _rest(first, second) if against else 0.0
    alone = _both(first, second, PHRASES) - CONTRADICTION * doubt
    # Where phrases contradict each other, like sentences speak for them the less: it is their only difference.
    support = _graded(alone + context * (1.0 - doubt if context > 0 else 1.0), PHRASES)
    if support < SUPPORTED <= _graded(alone, PHRASES):
        return Judgement(support, "the sentences around the phrases say different things", reference)
    return Judgement(
        support, why(texts[phrase], texts[reference], reference, supported=support >= SUPPORTED), reference
    )


def _rivals(first: Encoded, second: Encoded) -> bool:
    """True if a name stands in the place of another name."""
    path = align(first, second)
    if path is None:
        return False
    placed = [(first.words[one], second.words[other]) for one, other in zip(path.claim, path.reference, strict=True)]
    return any(
        one.surface[0].isupper() and other.surface[0].isupper() and not same_root(one.stem, other.stem)
        for (one, other), like in zip(placed, path.likeness, strict=True)
        if like >= COMPANY and one.stem not in second.positions and other.stem not in first.positions
    )


def _rest(first: Encoded, second: Encoded) -> float:
    """The square of how far all content words but the least found one are found, on the side where fewer are."""
    paths = [path for one, other in ((first, second), (second, first)) if (path := align(one, other)) is not None]
    rests = [float(np.sort(path.closest)[1:].mean()) for path in paths if len(path.closest) > 1]
    return min(rests, default=1.0) ** 2


def why(claim: Encoded, reference: Encoded, passage: str, *, supported: bool) -> str:
    """Say in words what decided; words that the reference is said to lack have been looked up in it."""
    if supported:
        return f"supported by “{passage}”"
    own, theirs = (facts(" ".join(text.passages)) for text in (claim, reference))
    if (objection := next(objections(own, theirs, facts(""), facts(passage)), None)) is not None:
        return objection
    if (opposite := next(opposites(own, theirs), None)) is not None:
        return opposite
    lost = ", ".join(f"'{word}'" for word in dict.fromkeys(lost_words(own, theirs)[:4]))
    return f"nothing there has {lost}" if lost else f"“{passage}” says something similar but not this"


def _both(first: Encoded, second: Encoded, weights: Weights) -> float:
    return _together(_found_in(first, second, weights), _found_in(second, first, weights))


def _together(forward: float, backward: float) -> float:
    return fmean((forward, backward)) - UNEVEN * abs(forward - backward) / 2


def _found_in(claim: Encoded, reference: Encoded, weights: Weights) -> float:
    """Log-odds that the reference says all that the claim says."""
    path = align(claim, reference)
    if path is None:
        return NOTHING_FOUND
    miss = 1.0 - path.closest
    missing = float((miss**weights.power).sum() / (len(miss) + weights.prior))
    # A jump counts as far as both its ends are surely placed: between loose synonyms places mean little.
    ends = np.minimum(path.likeness[1:], path.likeness[:-1])
    apart = float((path.jumps * ends).sum() / (len(miss) + weights.prior))
    apart *= float(1.0 - miss.mean()) ** weights.literal
    own, theirs = (facts(" ".join(text.passages)) for text in (claim, reference))
    against = sum(1 for _ in objections(own, theirs, facts(""), theirs))
    logit: float = weights.bias - weights.miss * missing - weights.jump * apart - weights.objection * against
    return logit - weights.swap * _swapped(claim, reference, path)


def _swapped(claim: Encoded, reference: Encoded, path: WordPath) -> bool:
    """True if two names or figures trade places around the same words, without a passive that would make it right."""
    exact = path.likeness >= EXACT
    opening = [claim.words[at].surface[0] for at in path.claim]
    slots = [k for k in np.flatnonzero(exact) if opening[k].isupper() or opening[k].isdigit()]
    for one, other in pairwise(slots):
        after, before = path.reference[one], path.reference[other]
        between = (exact & (before < path.reference) & (path.reference < after))[one + 1 : other]
        if opening[one].isdigit() != opening[other].isdigit() or not between.any():
            continue
        said = {word.surface.lower() for word in claim.words[path.claim[one] : path.claim[other]]}
        true = {word.surface.lower() for word in reference.words[before:after]}
        if reference.owners[before] == reference.owners[after] and said & TURNING == true & TURNING:
            return True
    return False


def _graded(logit: float, weights: Weights) -> float:
    """Log-odds as a support of 0 to 1, rounded so that the last digits of the arithmetic never show.

    From 0.5, where the log-odds are even, it reaches 1 where every word stands in its place.
    """
    if logit > 0:
        rise: float = min(1.0, logit / weights.bias) ** SLOW_RISE
        return round(0.5 + 0.5 * rise, 4)
    return round(1.0 / (1.0 + math.exp(min(60.0, -logit))), 4)
