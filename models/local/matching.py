"""Short texts compared with each other, strictly: a single word may decide.

Where one text repeats the other word for word but in one place, that place was changed on purpose; where all is put in
other words, a single word without a counterpart says little. All weights are log-odds, set by hand.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from models.local.alignment import Text, align, likeness_of
from models.local.text import Word, denies, lost_facts, lost_names
from models.protocol import SUPPORTED, Claims, Judgement

Kind = Literal["substitution", "addition", "fact", "exchange", "negation", "pronoun"]

_BIAS = 4.8
"""Of a hypothesis that is in the premise word for word."""
_GRAVEST: dict[Kind, float] = {"substitution": 6.8, "addition": 5.0, "fact": 8.0, "exchange": 6.0}
_GRAVEST |= {"negation": 7.0, "pronoun": 5.2}
"""Taken off for the gravest difference of a kind, in full where all around it is repeated."""
_FAR, _NEAR = 8.0, 0.2
"""Taken off for the mean distance of the hypothesis's words beyond the second of the two."""
_EXACT = 0.9
"""Likeness from which a word is the same word."""
_REACH = 3
"""Repeated words on either side that make a frame; more make it no firmer."""
_CLOSE, _WHOLE = 2.0, 5.0
"""Exponents of how closely a difference is framed, and of how literal all the rest is."""
_LONGEST, _READ = 400, 60
"""Words of a hypothesis that are compared one by one, and of a premise, unless thrice the hypothesis's are more."""
_PRONOUNS = frozenset("he him his she her hers it its they them their theirs".split())
_NO_WORDS = Judgement(0.0, "one of the texts has no words", None)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that a hypothesis and its premise do not share."""

    kind: Kind
    said: str
    instead: str
    strength: float
    """0 to 1: how far from a counterpart, and how far all around it is repeated."""


def judge_entailment(premise: Text, hypothesis: Text) -> Judgement:
    """True if the premise, of any number of sentences, says all that the hypothesis says."""
    found = align(hypothesis, premise)
    if found is None:
        return _NO_WORDS
    passage = premise.sentences[found.home]
    distance = _FAR * max(0.0, 1.0 - float(found.likeness.mean()) - _NEAR)
    gravest = {one.kind: one for one in sorted(differences(premise, hypothesis), key=lambda one: one.strength)}
    support = _graded(_BIAS - distance - sum(map(_loss, gravest.values())), _BIAS)
    if support >= SUPPORTED:
        return Judgement(support, f"supported by “{passage}”", passage)
    worst = max(gravest.values(), key=_loss, default=None)
    reason = lack(hypothesis, premise, passage) if worst is None or _loss(worst) < distance else _fault(worst)
    return Judgement(support, reason, passage)


def _loss(one: Difference) -> float:
    return _GRAVEST[one.kind] * one.strength


def _fault(one: Difference) -> str:
    instead = f"'{one.instead}'" if one.instead else ""
    if one.kind == "exchange":
        return f"'{one.said}' stands where {instead} does in it"
    if one.kind == "negation":
        return f"it says {instead}, which is not denied here" if instead else f"it has no denial as '{one.said}'"
    return f"it says {instead} for '{one.said}'" if instead else f"it does not say '{one.said}' in that place"


def differences(premise: Text, hypothesis: Text) -> Iterator[Difference]:
    """What a hypothesis does not repeat of its premise, stretch by stretch."""
    # Of a long premise what is nearest.
    near = np.argsort(-(premise.gists @ hypothesis.gists.mean(axis=0)), kind="stable")
    said = range(len(hypothesis.words))[:_LONGEST]
    order = np.concatenate([np.flatnonzero(premise.owners == one) for one in near])[: max(_READ, 3 * len(said))]
    true = sorted(order.tolist())
    keys = [hypothesis.words[at].key for at in said], [premise.words[at].key for at in true]
    shared = sum((Counter(keys[0]) & Counter(keys[1])).values()) / min(map(len, keys))
    likeness = np.where(np.isin(premise.content, order), likeness_of(hypothesis, premise), 0.0)
    blocks = [(block.a, block.b, block.size) for block in Levenshtein.opcodes(*keys).as_matching_blocks()]
    repeated = sum(size for _, _, size in blocks)
    for (a, b, size), (next_a, next_b, next_size) in pairwise([(0, 0, 0), *blocks]):
        here, there = said[a + size : next_a], true[b + size : next_b]
        rows = np.flatnonzero(np.isin(hypothesis.content, here))
        columns = np.flatnonzero(np.isin(premise.content, there))
        # What opens or ends both texts is as good as a full frame.
        ends = next_a + next_size == len(said) and next_b + next_size == len(true)
        around = min(_REACH, size if a or b else _REACH) + min(_REACH, _REACH if ends else next_size)
        rest = max(1, min(len(said) - len(here), len(true) - len(there)))
        closeness = around / (2 * _REACH * max(1, len(rows), len(columns)) ** 0.5)
        framing = min(1.0, closeness**_CLOSE * (repeated / rest) ** _WHOLE)
        yield from _in_grammar([hypothesis.words[k] for k in here], [premise.words[k] for k in there], framing)
        for row in rows:
            word, like, closest = hypothesis.words[hypothesis.content[row]], likeness[row], float(likeness[row].max())
            others = [premise.words[premise.content[k]] for k in sorted(columns, key=lambda k: -like[k])]
            instead = others[0].surface if others else ""
            if word.is_fact and (closest < _EXACT or any(other.is_fact for other in others)):
                if word.key not in {other.key for other in others}:
                    yield Difference("fact", word.surface, instead, framing)
            elif closest >= _EXACT:
                taken = next((other.surface for other in others if other.key in keys[0]), "")
                # One word for another is told from a text put otherwise by how many words both texts have.
                alone = shared**_WHOLE if len(here) == len(there) == 1 else 0.0
                if taken and word.key not in {other.key for other in others}:
                    yield Difference("exchange", word.surface, taken, max(framing, alone) ** 0.5)
            else:
                # In a frame any other word was put there on purpose; elsewhere what comes close may be what is meant.
                kind: Kind = "substitution" if others else "addition"
                yield Difference(kind, word.surface, instead, (1.0 - (1.0 - framing) * closest) * framing)


def _in_grammar(mine: Sequence[Word], theirs: Sequence[Word], framing: float) -> Iterator[Difference]:
    pronoun = next((word.surface for word in mine if word.key in _PRONOUNS), "")
    named = next((word.surface for word in theirs if word.content), "")
    if named and pronoun and not any(word.content for word in mine):
        yield Difference("pronoun", pronoun, named, framing)
    if denies(mine) != denies(theirs) and (mine or not named):
        denial, instead = (next((word.surface for word in side if word.denies), "") for side in (mine, theirs))
        # Rewordings keep what is denied: a negation says more of itself than other words.
        yield Difference("negation", denial, instead, framing**0.5)


_SENTENCES, _PHRASES = 2.5, 4.2
"""Of two texts that are equal. Phrases need only be able to mean the same; sentences, around them too, have to."""
_MISS, _APART, _OBJECTION, _EXCHANGE = 10.0, 15.0, 0.5, 2.0
"""Taken off when no word has a counterpart, when no two neighbours stand together in the other text, for each figure or
denial that it lacks, and where words trade places."""
_PRIOR, _LITERAL = 3.0, 4.0
"""Words found in place that are taken for granted, so that one odd word does not decide; and the exponent by which
places count the less the more words are put otherwise."""
_CONTEXT, _CONTRADICTION = 3.0, 5.0
"""Weight of the log-odds that the sentences around two phrases say the same; taken off for a contradiction."""


def judge_paraphrase(reference: Text, whole: Text, sentences: Sequence[Text]) -> list[Judgement]:
    """A judgement of each sentence of `whole`, which has to say what the reference says."""
    back = _found_in(reference, whole, _SENTENCES)
    judged = []
    for sentence in sentences:
        found = align(sentence, reference)
        if found is None:
            judged.append(_NO_WORDS)
            continue
        passage = reference.sentences[found.home]
        support = _graded(_together(_found_in(sentence, reference, _SENTENCES), back), _SENTENCES)
        reason = f"supported by “{passage}”" if support >= SUPPORTED else lack(sentence, reference, passage)
        judged.append(Judgement(support, reason, passage))
    return judged


def judge_phrase(claims: Claims, phrase: str, texts: Mapping[str, Text]) -> Judgement:
    """Whether a phrase means the same as the reference; sentences around tell if the two speak of the same thing."""
    # In a fixed order: it is one question, whichever phrase is named first.
    first, second = (texts[text] for text in sorted((claims.reference, phrase)))
    if first.words and [word.key for word in first.words] == [word.key for word in second.words]:
        return Judgement(1.0, "the phrases are the same", claims.reference)
    logit = _both(first, second, _PHRASES)
    one, other = (texts[sentence] for sentence in claims.around or (claims.reference, phrase))
    context = 0.0 if claims.around is None else _CONTEXT * _both(one, other, _SENTENCES)
    sides = ((first.words, second.words), (second.words, first.words))
    if denies(first.words) != denies(second.words) or all(lost_facts(*side) or lost_names(*side) for side in sides):
        # Like sentences around them say nothing for phrases that are their only difference.
        logit, context = logit - _CONTRADICTION, min(context, 0.0)
    support = _graded(logit + context, _PHRASES)
    if support >= SUPPORTED:
        reason = f"supported by “{claims.reference}”"
    elif logit >= 0:
        reason = "the sentences around the phrases say different things"
    else:
        reason = lack(texts[phrase], texts[claims.reference], claims.reference)
    return Judgement(support, reason, claims.reference)


def lack(claim: Text, reference: Text, passage: str) -> str:
    """What a reference lacks of a claim: a fact first, then other words, each looked up in it."""
    known, written = {word.key for word in reference.words}, " ".join(reference.sentences).lower()
    lost = [word for word in claim.words if word.content and word.key not in known]
    lost = [word for word in lost if word.surface.lower() not in written]
    fact = next((word.surface for word in lost if word.is_fact), None)
    if fact is not None:
        return f"'{fact}' is not in the reference"
    listed = ", ".join(f"'{word.surface}'" for word in lost[:4])
    return f"nothing there has {listed}" if lost else f"“{passage}” says something similar but not this"


def _both(first: Text, second: Text, bias: float) -> float:
    return _together(_found_in(first, second, bias), _found_in(second, first, bias))


def _together(forward: float, backward: float) -> float:
    """The worse direction counts more."""
    return 0.75 * min(forward, backward) + 0.25 * max(forward, backward)


def _found_in(claim: Text, reference: Text, bias: float) -> float:
    """Log-odds that the reference says all that the claim says."""
    found = align(claim, reference)
    if found is None:
        return -_MISS
    miss = 1.0 - found.likeness
    # One word without any counterpart says more than several that have a near one.
    missing = (miss**2).sum() / (len(miss) + _PRIOR)
    # Two words apart count as far as both are surely placed: between loose synonyms places mean little.
    ends = np.minimum(found.likeness[1:], found.likeness[:-1])
    apart = (found.apart * ends).sum() / (len(miss) + _PRIOR) * found.likeness.mean() ** _LITERAL
    against = len(lost_facts(claim.words, reference.words)) + (denies(claim.words) != denies(reference.words))
    exchanged = max((one.strength for one in differences(reference, claim) if one.kind == "exchange"), default=0.0)
    return float(bias - _MISS * missing - _APART * apart - _OBJECTION * against - _EXCHANGE * exchanged)


def _graded(logit: float, bias: float) -> float:
    """Log-odds as a support of 0 to 1, rounded so that the last digits of the arithmetic never show."""
    return round(0.5 + 0.5 * min(1.0, logit / bias) if logit > 0 else 1.0 / (1.0 + math.exp(min(60.0, -logit))), 4)
