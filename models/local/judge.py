"""The judge that needs no endpoint, key or network: for the first five minutes, tests and CI."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from cachetools import LRUCache
from threadpoolctl import ThreadpoolController

from models.local.alignment import Text, align, encoded, likeness_of
from models.local.encoder import bundled
from models.local.matching import judge_entailment, judge_paraphrase, judge_phrase, lack
from models.local.no_claim import claims_nothing
from models.local.text import Word, denies, language_of, lost_facts, lost_names
from models.model_loading import THREADS
from models.protocol import NO_CLAIM, SUPPORTED, ClaimKind, Claims, Graded, Judgement, ModelFailed
from models.wording import split_sentences
from schemas.base import BUNDLED_MODEL

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


def compared(claim: Text, reference: Text, question: Text | None = None, *, denied: bool = False) -> Compared | None:
    """None where either has no words; words of the question need no support, and `denied` turns the claim round."""
    found = align(claim, reference)
    if found is None:
        return None
    words = [claim.words[at] for at in claim.content]
    there = [word for word, owner in zip(reference.words, reference.owners, strict=True) if owner == found.home]
    near, plain = {word.key for word in there}, [word.key for word in words if not word.is_fact]
    repeated = sum(key in near for key in plain) >= _REPEATED * max(1, len(plain))
    known = (*reference.words, *(question.words if question else ()))
    likeness = found.likeness
    if question and len(question.content):
        likeness = np.maximum(likeness, likeness_of(claim, question).max(axis=1))
    # The facts of a sentence that says the same count alone; those of the question where there are no others.
    sides = (there if near.issuperset(plain) else ()), reference.words
    sources = [side for side in sides if any(word.is_fact for word in side)]
    facts = lost_facts(claim.words, sources[0] if sources else known)
    features = {
        "bias": 1.0,
        "miss": float(((1.0 - likeness) ** 2).mean()),
        "near": float(np.round(reference.gists @ claim.gists.mean(axis=0), 3).max()),
        "fact": float(bool(facts)),
        "name": float(bool(lost_names(words, known))),
    }
    turned = repeated and (denies(claim.words) != denies(there)) is not denied
    return Compared(features, facts, turned, reference.sentences[found.home])


def support_of(weights: Mapping[str, float], found: Compared) -> float:
    """0 to 1, rounded so that the last digits of the arithmetic never show."""
    logit = sum(weight * found.features[name] for name, weight in weights.items())
    highest = _CEILING if found.facts else _UNDECIDED if found.features["name"] else 1.0
    return min(highest, round(1.0 / (1.0 + math.exp(-logit)), 4))


def unread(claims: Claims) -> ModelFailed | None:
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


def asked(claims: Claims) -> str:
    """The question that a response answers: the last sentence of its prompt."""
    sentences = split_sentences(claims.prompt or "") if claims.kind is ClaimKind.ANSWER else []
    return sentences[-1].text if sentences else ""


def _judged_sentence(sentence: str, question: str, reference: Text, texts: Mapping[str, Text]) -> Judgement:
    reply = _REPLIES.get(sentence.strip(" .!").lower()) if question else None
    if reply is None and claims_nothing(sentence):
        return NO_CLAIM
    if sentence in reference.sentences:
        return Judgement(1.0, f"supported by “{sentence}”", sentence)
    claim = texts[sentence if reply is None else question]
    found = compared(claim, reference, texts[question] if question and reply is None else None, denied=bool(reply))
    if found is None:
        return Judgement(0.0, "there is nothing to compare" if reference.words else "the reference is empty", None)
    support = min(support_of(CLAIMS, found), _CEILING if found.turned else 1.0)
    reason = f"supported by “{found.passage}”" if support >= SUPPORTED else lack(claim, reference, found.passage)
    if found.facts:
        reason = f"'{found.facts[0].surface}' is not in “{found.passage}”"
    elif found.turned:
        denial = next((f"has '{word.surface}'" for word in texts[sentence].words if word.denies), "has no denial")
        reason = f"it {denial}, unlike “{found.passage}”"
    # That a passage does not say what was asked speaks neither for a bare yes nor for a bare no.
    lowest = REJECT_BELOW if reply is None or found.turned else 0.0
    return Judgement(support, reason, found.passage, unsure=lowest <= support < ACCEPT_FROM)


def judge_compatible(earlier: Text, claim: Text) -> Judgement:
    """Whether a sentence contradicts none of a text: in one that says the same of the same, a fact or a denial differs.

    Facts that were added, or are all others, speak of something else, and so does another name.
    """
    for at, sentence in enumerate(earlier.sentences):
        there = [word for word, owner in zip(earlier.words, earlier.owners, strict=True) if owner == at]
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


def judge_question(question: Text, passage: Text) -> Judgement:
    """Whether a passage answers a question."""
    found = compared(question, passage)
    if found is None:
        return Judgement(0.0, "one of the texts has no words", None)
    support = support_of(QUESTIONS, found)
    reason = (
        f"“{found.passage}” answers the question" if support >= SUPPORTED else lack(question, passage, found.passage)
    )
    return Judgement(support, reason, found.passage)


_KEPT = 256
"""Texts kept for records that share one."""
VERSION = "13"
"""Changes with every number that grades depend on, fitted or not: verdicts name it."""


class BundledJudge:
    """Grades claims on the processor, the same every time."""

    name = f"local/{BUNDLED_MODEL}@{VERSION}"

    def __init__(self) -> None:
        self._kept: LRUCache[str, Text] = LRUCache(_KEPT)

    def load(self) -> None:
        """Load the model now. Raises ModelUnusable if it is missing or damaged."""
        # Small products of matrices only wait for one another on many cores; fewer stay where OMP_NUM_THREADS says so.
        blas = ThreadpoolController().select(user_api="blas")
        blas.limit(limits=min([THREADS, *(library.num_threads for library in blas.lib_controllers)]))
        bundled()

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or why an entry gets none."""
        faults = {at: fault for at, one in enumerate(batch) if (fault := unread(one))}
        read = [one for at, one in enumerate(batch) if at not in faults]
        named = (text for one in read for text in (one.reference, *one.sentences, *(one.around or ())))
        needed = {*named, *(text for one in read for text in (" ".join(one.sentences), asked(one)))}
        texts = {text: kept for text in needed if (kept := self._kept.get(text)) is not None}
        texts |= encoded(sorted(needed - texts.keys()))
        self._kept.update(texts)
        return [faults.get(at) or _judged(one, texts) for at, one in enumerate(batch)]


_SAME_IF_EQUAL = frozenset({ClaimKind.ENTAILMENT, ClaimKind.MATCH, ClaimKind.PARAPHRASE})


def _judged(claims: Claims, texts: Mapping[str, Text]) -> list[Judgement]:
    reference, sentences = texts[claims.reference], [texts[sentence] for sentence in claims.sentences]
    if claims.kind in _SAME_IF_EQUAL and claims.sentences == reference.sentences:
        return [Judgement(1.0, f"supported by “{one}”", one) for one in claims.sentences]
    match claims.kind:
        case ClaimKind.PARAPHRASE:
            return judge_paraphrase(reference, texts[" ".join(claims.sentences)], sentences)
        case ClaimKind.ENTAILMENT | ClaimKind.MATCH | ClaimKind.COMPATIBLE:
            judge = judge_compatible if claims.kind is ClaimKind.COMPATIBLE else judge_entailment
            return [judge(reference, sentence) for sentence in sentences]
        case ClaimKind.ANSWERABILITY:
            return [judge_question(sentence, reference) for sentence in sentences]
        case ClaimKind.PHRASE:
            return [judge_phrase(claims, phrase, texts) for phrase in claims.sentences]
        case _:
            return [_judged_sentence(sentence, asked(claims), reference, texts) for sentence in claims.sentences]
