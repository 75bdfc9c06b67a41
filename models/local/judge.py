"""The judge that needs no endpoint, key or network: for the first five minutes, tests and CI."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from rapidfuzz.distance import Levenshtein
from threadpoolctl import threadpool_limits

from models.local.encoder import Text, Vectors, bundled, encoded
from models.local.text import Word, claims_nothing, denies, language_of, lost_facts, lost_names
from models.protocol import NO_CLAIM, SUPPORTED, ClaimKind, Claims, Graded, Judgement, ModelFailed
from models.wording import split_sentences
from schemas.base import BUNDLED_MODEL

_NEAREST, _FARTHEST = 0.85, 0.45
"""Cosines of two different words in context from which they say the same, and below which nothing is shared."""
_SYNONYM = 0.8
"""The worth of the best different word next to the same word: also opposites and sisters come close in vectors."""
_NO_WORDS = Judgement(0.0, "one of the texts has no words", None)


def likeness_of(claim: Text, reference: Text) -> Vectors:
    """(claim's content words, reference's content words): how far one stands for the other, 0 to 1."""
    # The same text in another batch differs in the last digits; rounding keeps that from choosing another place.
    cosine = np.round(claim.vectors[claim.content] @ reference.vectors[reference.content].T, 3)
    like = _SYNONYM * np.clip((cosine - _FARTHEST) / (_NEAREST - _FARTHEST), 0.0, 1.0)
    # Figures and days are like themselves alone.
    like[[claim.words[at].is_fact for at in claim.content]] = 0.0
    same = claim.keys[:, None] == reference.keys
    return np.asarray(np.where(same, 0.9 + 0.1 * np.clip(cosine, 0.0, 1.0), like), dtype=np.float32)


def _aligned(claim: Text, reference: Text) -> tuple[Vectors, npt.NDArray[np.int64], int]:
    """For each content word of the claim the likeness and the position of the likest word of the reference.

    And the sentence there that most of the claim comes from. Both texts have words.
    """
    likeness = likeness_of(claim, reference)
    best, places = likeness.max(axis=1), reference.content[likeness.argmax(axis=1)]
    return best, places, int(np.bincount(reference.owners[places], weights=best).argmax())


def _lack(claim: Text, reference: Text, passage: str) -> str:
    """What a reference lacks of a claim: facts first, then other words, each looked up in it."""
    known, written = {word.key for word in reference.words}, " ".join(reference.sentences).lower()
    lost = [word for word in claim.words if word.content and word.key not in known]
    lost = [word for word in lost if word.surface.lower() not in written]
    listed = ", ".join(f"'{word.surface}'" for word in sorted(lost, key=lambda word: not word.is_fact)[:4])
    return f"nothing there has {listed}" if lost else f"“{passage}” says something similar but not this"


# Short texts compared with each other, strictly: a single word may decide. Where one text repeats the other word for
# word but in one place, that place was changed on purpose; where all is put in other words, a single word without a
# counterpart says little. All weights are log-odds, set by hand.

_BIAS = 4.8
"""Of a text that is in the other word for word."""
_LOSS = {"word": 6.8, "fact": 8.0, "exchange": 6.0, "negation": 7.0, "addition": 5.0}
"""Taken off for the gravest difference of a kind, in full where all around it is repeated."""
_FAR, _NEAR = 8.0, 0.2
"""Taken off for the mean distance of the words beyond the second of the two."""
_EXACT, _LITERAL, _REACH = 0.9, 5.0, 3
"""Likeness from which a word is the same word; exponent of how literal all the rest is around a difference; repeated
words on either side that make a frame."""
_LONGEST, _READ = 400, 60
"""Words of a hypothesis that are compared one by one, and of a premise, unless thrice the hypothesis's are more."""
_SENTENCE, _PHRASE = 2.5, 4.2
"""Of equal sentences, and of equal phrases, which need only be able to mean the same."""
_MISS, _TURNED, _OBJECTION, _EXCHANGE, _PRIOR = 10.0, 15.0, 0.5, 2.0, 3.0
"""Taken off when no word has a counterpart, when all neighbours are in the other order, for each figure or denial that
is not there, and where words trade places; and words taken for granted, so that one odd word does not decide."""
_CONTEXT, _CONTRADICTION = 3.0, 5.0
"""Weight of the log-odds that the sentences around two phrases say the same; taken off for a contradiction."""


def _judged_match(premise: Text, hypothesis: Text) -> Judgement:
    """Whether a text, of any number of sentences, says all that another says."""
    likeness, _, home = _aligned(hypothesis, premise)
    distance = _FAR * max(0.0, 1.0 - float(likeness.mean()) - _NEAR)
    found_there = sorted(_differences(premise, hypothesis, likeness))
    losses = {kind: (_LOSS[kind] * strength, said) for strength, kind, said in found_there}
    loss, fault = max(losses.values(), default=(0.0, ""))
    support = _graded(_BIAS - distance - sum(loss for loss, _ in losses.values()), _BIAS)
    passage = premise.sentences[home]
    if support >= SUPPORTED:
        return Judgement(support, f"supported by “{passage}”", passage)
    return Judgement(support, fault if loss >= distance else _lack(hypothesis, premise, passage), passage)


def _differences(premise: Text, hypothesis: Text, likeness: Vectors) -> Iterator[tuple[float, str, str]]:
    """What a hypothesis does not repeat of its premise, stretch by stretch, each with its strength of 0 to 1."""
    near = np.argsort(-(premise.gists @ hypothesis.gists.mean(axis=0)), kind="stable")
    order = np.concatenate([np.flatnonzero(premise.owners == one) for one in near])
    said = hypothesis.words[:_LONGEST]
    true = [premise.words[at] for at in sorted(order[: max(_READ, 3 * len(said))])]
    keys = [word.key for word in said], [word.key for word in true]
    blocks = [(block.a, block.b, block.size) for block in Levenshtein.opcodes(*keys).as_matching_blocks()]
    repeated = sum(size for _, _, size in blocks)
    shared = sum((Counter(keys[0]) & Counter(keys[1])).values()) / min(map(len, keys))
    for (a, b, size), (next_a, next_b, next_size) in pairwise([(0, 0, 0), *blocks]):
        mine, theirs = said[a + size : next_a], true[b + size : next_b]
        rows = np.flatnonzero((hypothesis.content >= a + size) & (hypothesis.content < next_a))
        others = [word for word in theirs if word.content]
        # What opens or ends both texts is as good as a full frame.
        ends = next_a + next_size == len(said) and next_b + next_size == len(true)
        around = min(_REACH, size if a or b else _REACH) + min(_REACH, _REACH if ends else next_size)
        rest = max(1, min(len(said) - len(mine), len(true) - len(theirs)))
        framing = (around / (2 * _REACH)) ** 2 / max(1, len(rows), len(others)) * (repeated / rest) ** _LITERAL
        framing = min(1.0, framing)
        here, instead = (" ".join(word.surface for word in side[:8]) for side in (mine, theirs))
        instead_of = f" for '{here}'" if here else ", which is not said here"
        fault = f"it says '{instead}'{instead_of}" if instead else f"it does not say '{here}' there"
        # Rewordings keep what is denied: a negation says more of itself than other words.
        if denies(mine) != denies(theirs):
            yield framing**0.5, "negation", fault
        if mine and others and not len(rows):
            # A pronoun or the like, which leaves open what the other names.
            yield framing, "addition", fault
        there, has_facts = {other.key for other in others}, any(other.is_fact for other in others)
        for row in rows:
            word, closest = said[hypothesis.content[row]], float(likeness[row])
            if word.key in there:
                continue
            if word.is_fact and (closest < _EXACT or has_facts):
                yield framing, "fact", fault
            elif closest < _EXACT:
                yield framing, "word" if others else "addition", fault
            elif not there.isdisjoint(keys[0]):
                # It trades places; one word for another is told from a text put otherwise by the words that both have.
                alone = shared**_LITERAL if len(mine) == len(theirs) == 1 else 0.0
                yield max(framing, alone) ** 0.5, "exchange", fault


def _judged_paraphrase(back: float, reference: Text, sentence: Text) -> Judgement:
    """Whether a sentence says what the reference says; `back` are the log-odds of the other direction."""
    passage = reference.sentences[_aligned(sentence, reference)[2]]
    support = _graded(_together(_found_in(sentence, reference, _SENTENCE), back), _SENTENCE)
    reason = f"supported by “{passage}”" if support >= SUPPORTED else _lack(sentence, reference, passage)
    return Judgement(support, reason, passage)


def _judged_phrase(claims: Claims, phrase: str, texts: Mapping[str, Text]) -> Judgement:
    """Whether a phrase means the same as the reference; sentences around tell if the two speak of the same thing."""
    # In a fixed order: it is one question, whichever phrase is named first.
    first, second = (texts[text] for text in sorted((claims.reference, phrase)))
    if first.words and [word.key for word in first.words] == [word.key for word in second.words]:
        return Judgement(1.0, "the phrases are the same", claims.reference)
    logit, context = _both(first, second, _PHRASE), 0.0
    if claims.around is not None:
        one, other = (texts[sentence] for sentence in claims.around)
        context = _CONTEXT * _both(one, other, _SENTENCE)
    sides = ((first.words, second.words), (second.words, first.words))
    if denies(first.words) != denies(second.words) or all(lost_facts(*side) or lost_names(*side) for side in sides):
        # Like sentences around them say nothing for phrases that are their only difference.
        logit, context = logit - _CONTRADICTION, min(context, 0.0)
    support = _graded(logit + context, _PHRASE)
    reason = f"supported by “{claims.reference}”"
    if support < SUPPORTED:
        reason = _lack(texts[phrase], texts[claims.reference], claims.reference)
        reason = "the sentences around the phrases say different things" if logit >= 0 else reason
    return Judgement(support, reason, claims.reference)


def _both(one: Text, other: Text, bias: float) -> float:
    return _together(_found_in(one, other, bias), _found_in(other, one, bias))


def _found_in(claim: Text, reference: Text, bias: float) -> float:
    """Log-odds that a text can mean all that another means."""
    if not claim.words or not reference.words:
        return -_MISS
    likeness, places, _ = _aligned(claim, reference)
    # One word without any counterpart says more than several that have a near one.
    missing = ((1.0 - likeness) ** 2).sum()
    # Between loose synonyms places mean little.
    sure = np.minimum(likeness[1:], likeness[:-1]) * likeness.mean() ** 4
    turned = sure[np.diff(places) < 0].sum()
    against = len(lost_facts(claim.words, reference.words)) + (denies(claim.words) != denies(reference.words))
    found_there = _differences(reference, claim, likeness)
    exchanged = max((strength for strength, kind, _ in found_there if kind == "exchange"), default=0.0)
    taken = (_MISS * missing + _TURNED * turned) / (len(likeness) + _PRIOR)
    return float(bias - taken - _OBJECTION * against - _EXCHANGE * exchanged)


def _together(one: float, other: float) -> float:
    """The worse direction counts more."""
    return 0.75 * min(one, other) + 0.25 * max(one, other)


def _graded(logit: float, bias: float) -> float:
    """Log-odds as a support of 0 to 1, rounded so that the last digits of the arithmetic never show."""
    return round(0.5 + 0.5 * min(1.0, logit / bias) if logit > 0 else 1.0 / (1.0 + math.exp(min(60.0, -logit))), 4)


# Claims against a reference, and questions against a passage.

CLAIMS = {"bias": -0.976, "miss": -2.208, "near": 2.67, "fact": -0.921, "name": -0.114}
QUESTIONS = {"bias": -0.762, "miss": -1.708, "near": 4.209, "fact": 0.346, "name": 0.145}
"""Log-odds by feature, printed by `python -m benchmarks.judge.fit PAIRS`."""

REJECT_BELOW, ACCEPT_FROM = 0.4, 0.6
"""Supports between which the judge leaves a claim open."""
_CEILING, _UNDECIDED = 0.3, 0.49
"""Supports that nothing exceeds whose fact or denial the reference does not have, and whose name."""
_REPEATED = 0.8
"""Share of a claim's words that a sentence repeats if a denial in only one of the two turns what it says."""
_SAME = 0.85
"""Share of words that two sentences about the same thing have in common: of six words one may be another."""
_REPLIES = {"yes": False, "yeah": False, "correct": False, "true": False, "no": True, "nope": True, "false": True}
"""Words that are a whole answer, and whether they deny what was asked."""


class Compared(NamedTuple):
    """A claim with its reference, and the nearest sentence of that."""

    features: Mapping[str, float]
    facts: Sequence[Word]
    """Figures and days of the claim that are not there."""
    turned: bool
    """One of claim and nearest sentence denies what both say."""
    passage: str


def compared(claim: Text, reference: Text, question: Text | None = None, *, denied: bool = False) -> Compared:
    """Both have words; those of the question need no support, and `denied` turns the claim round."""
    likeness, _, home = _aligned(claim, reference)
    words, there = [claim.words[at] for at in claim.content], reference.of(home)
    near, plain = {word.key for word in there}, [word.key for word in words if not word.is_fact]
    repeated = sum(key in near for key in plain) >= _REPEATED * max(1, len(plain))
    known = (*reference.words, *(question.words if question else ()))
    if question and len(question.content):
        likeness = np.maximum(likeness, likeness_of(claim, question).max(axis=1))
    # The facts of a sentence that says the same count alone; those of the question where there are no others.
    sides = (there if near.issuperset(plain) else ()), reference.words
    facts = lost_facts(claim.words, next((side for side in sides if any(word.is_fact for word in side)), known))
    features = {
        "bias": 1.0,
        "miss": float(((1.0 - likeness) ** 2).mean()),
        "near": float(np.round(reference.gists @ claim.gists.mean(axis=0), 3).max()),
        "fact": float(bool(facts)),
        "name": float(bool(lost_names(words, known))),
    }
    turned = repeated and (denies(claim.words) != denies(there)) is not denied
    return Compared(features, facts, turned, reference.sentences[home])


def support_of(weights: Mapping[str, float], found: Compared) -> float:
    """0 to 1, rounded so that the last digits of the arithmetic never show."""
    logit = sum(weight * found.features[name] for name, weight in weights.items())
    highest = _CEILING if found.facts else _UNDECIDED if found.features["name"] else 1.0
    return min(highest, round(1.0 / (1.0 + math.exp(-logit)), 4))


def _unread(claims: Claims) -> ModelFailed | None:
    """Why a response cannot be judged (another language, no claim), or None."""
    if claims.kind not in {ClaimKind.SUMMARY, ClaimKind.ANSWER}:
        return None
    for which, text in (("response", "\n".join(claims.sentences)), ("reference", claims.reference)):
        if language := language_of(text):
            detail = f"the {which} looks like the language '{language}'; the bundled judge reads English"
            return ModelFailed(detail, cause="unsupported_language")
    if claims.sentences and all(map(claims_nothing, claims.sentences)):
        return ModelFailed("no sentence of the response claims anything", cause="no_claim")
    return None


def _asked(claims: Claims) -> str:
    """The question that a response answers: the last sentence of its prompt."""
    sentences = split_sentences(claims.prompt or "") if claims.kind is ClaimKind.ANSWER else []
    return sentences[-1].text if sentences else ""


def _judged_sentence(sentence: str, question: str, reference: Text, texts: Mapping[str, Text]) -> Judgement:
    reply = _REPLIES.get(sentence.strip(" .!").lower()) if texts[question].words else None
    if reply is None and claims_nothing(sentence):
        return NO_CLAIM
    if sentence in reference.sentences:
        return Judgement(1.0, f"supported by “{sentence}”", sentence)
    claim = texts[sentence if reply is None else question]
    if not claim.words or not reference.words:
        return _NO_WORDS
    found = compared(claim, reference, texts[question] if reply is None else None, denied=bool(reply))
    support = min(support_of(CLAIMS, found), _CEILING if found.turned else 1.0)
    reason = f"supported by “{found.passage}”" if support >= SUPPORTED else _lack(claim, reference, found.passage)
    if found.facts:
        reason = f"'{found.facts[0].surface}' is not in “{found.passage}”"
    elif found.turned:
        denial = next((f"has '{word.surface}'" for word in texts[sentence].words if word.denies), "has no denial")
        reason = f"it {denial}, unlike “{found.passage}”"
    # That a passage does not say what was asked speaks neither for a bare yes nor for a bare no.
    lowest = REJECT_BELOW if reply is None or found.turned else 0.0
    return Judgement(support, reason, found.passage, unsure=lowest <= support < ACCEPT_FROM)


def _judged_question(passage: Text, question: Text) -> Judgement:
    """Whether a passage answers a question."""
    found = compared(question, passage)
    support, nearest = support_of(QUESTIONS, found), found.passage
    reason = f"“{nearest}” answers the question" if support >= SUPPORTED else _lack(question, passage, nearest)
    return Judgement(support, reason, nearest)


def _judged_compatible(earlier: Text, claim: Text) -> Judgement:
    """Whether a sentence contradicts none of a text: in one that says the same of the same, a fact or a denial differs.

    Facts that were added, or are all others, speak of something else, and so does another name.
    """
    for at, sentence in enumerate(earlier.sentences):
        there = earlier.of(at)
        names = (*lost_names(claim.words, there), *lost_names(there, claim.words))
        if not _same(claim.words, there) or not all(name.is_fact for name in names):
            continue
        others, instead = lost_facts(claim.words, there), lost_facts(there, claim.words)
        facts = sum(word.is_fact for word in claim.words)
        if others and instead and (len(others) < facts or facts == 1):
            return Judgement(_CEILING, f"it says '{others[0].surface}' for '{instead[0].surface}'", sentence)
        if not others and not instead and denies(claim.words) != denies(there):
            return Judgement(_CEILING, "one of the two denies what both say", sentence)
    return Judgement(1.0, "nothing there contradicts it", None)


def _same(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """True if either has nearly all words of the other, but for facts."""
    first, second = ({word.key for word in words if word.content and not word.is_fact} for words in (one, other))
    return bool(first and second) and len(first & second) >= _SAME * max(len(first), len(second))


_KEPT = 256
"""Texts kept for records that share one."""
VERSION = "15"
"""Changes with every number that grades depend on, fitted or not: verdicts name it."""


class BundledJudge:
    """Grades claims on the processor, the same every time."""

    name = f"local/{BUNDLED_MODEL}@{VERSION}"

    def __init__(self) -> None:
        self._kept: LRUCache[str, Text] = LRUCache(_KEPT)

    def load(self) -> None:
        """Load the model now. Raises ModelUnusable if it is missing or damaged."""
        # A second thread gains little on products so small, and on a busy machine each of them waits for it.
        threadpool_limits(1, user_api="blas")
        bundled()

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or why an entry gets none."""
        faults = {at: fault for at, one in enumerate(batch) if (fault := _unread(one))}
        read = [one for at, one in enumerate(batch) if at not in faults]
        named = (text for one in read for text in (one.reference, *one.sentences, *(one.around or ())))
        needed = {*named, *(text for one in read for text in (" ".join(one.sentences), _asked(one)))}
        texts = {text: kept for text in needed if (kept := self._kept.get(text)) is not None}
        texts |= encoded(sorted(needed - texts.keys()))
        self._kept.update(texts)
        return [faults.get(at) or _judged(one, texts) for at, one in enumerate(batch)]


def _judged(claims: Claims, texts: Mapping[str, Text]) -> list[Judgement]:
    reference, sentences = texts[claims.reference], [texts[sentence] for sentence in claims.sentences]
    if claims.kind in {ClaimKind.SUMMARY, ClaimKind.ANSWER}:
        return [_judged_sentence(sentence, _asked(claims), reference, texts) for sentence in claims.sentences]
    if claims.kind is ClaimKind.PHRASE:
        return [_judged_phrase(claims, phrase, texts) for phrase in claims.sentences]
    if claims.kind is ClaimKind.COMPATIBLE:
        return [_judged_compatible(reference, sentence) for sentence in sentences]
    judge: Callable[[Text, Text], Judgement] = _judged_match
    if claims.kind is ClaimKind.ANSWERABILITY:
        judge = _judged_question
    elif claims.kind is ClaimKind.PARAPHRASE:
        back = _found_in(reference, texts[" ".join(claims.sentences)], _SENTENCE)
        judge = partial(_judged_paraphrase, back)
    return [judge(reference, one) if reference.words and one.words else _NO_WORDS for one in sentences]
