"""Whether two phrases could mean the same: what a proof by phrase alignment asks of the judge.

Both ways at once, as for equal sentences, but "could": a phrase stands for more in its sentence than its words say.
Where the sentences around are known, how near these are to each other tells how likely it is that the phrases speak of
the same thing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from cachetools import LRUCache

from checkers.lexicon import lexicon
from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local.alignment import Numbers
from checkers.oracle.local.faults import Fault
from checkers.oracle.local.material import Material
from checkers.oracle.local.support import EQUIVALENT, Finding, both_ways, graded, support_of

ALIKE = replace(EQUIVALENT, jump=30.0, literal=4.0)
"""As for equal sentences, but the more words differ the less their order says: it tells who did what to whom where the
words are the same, and little where a text was put freely."""

LENIENCE = 1.5
"""Log-odds added because the phrases only have to be able to mean the same."""

CONTEXT = 3.0
"""Weight of the log-odds that the sentences around the phrases say the same."""

SAME_MEANING, SAME_ROOT, OPPOSITE = 0.9, 0.85, 0.1
"""What two words are worth at least by the lexicon: synonyms and forms of one word, derivations; and opposites at most.
Kinds of things are left to the vectors: of common words nearly each is a kind of many others."""

_KEPT_CONTEXTS = 4096
_KEPT_WORDS = 32768
_LISTED = 4

_REASONS = {
    "negation": "only one of the phrases is negated, by {}",
    "opposite": "the other phrase has the opposite of {}",
    "swap": "the phrases have {} in different places",
}


class PhraseJudge:
    """Grades phrases; any number of threads may call `judge`."""

    def __init__(self, encode: Callable[[Sequence[str]], Mapping[str, Material]]) -> None:
        """`encode` makes texts ready for comparison, by text."""
        self._encode = encode
        self._contexts: LRUCache[str, float] = LRUCache(_KEPT_CONTEXTS)
        self._lock = threading.Lock()

    def judge(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        """One judgement for each phrase of each entry, in order."""
        contexts = self._contexts_of({claims.prompt for claims in batch if claims.prompt})
        texts = self._encode([text for claims in batch for text in (claims.reference, *claims.sentences)])
        return [
            [
                _judged(texts[claims.reference], texts[phrase], contexts.get(claims.prompt or ""))
                for phrase in claims.sentences
            ]
            for claims in batch
        ]

    def _contexts_of(self, prompts: set[str]) -> dict[str, float]:
        """By prompt the log-odds that its two sentences say the same; none for a prompt that is not two sentences."""
        with self._lock:
            known = {prompt: self._contexts[prompt] for prompt in prompts if prompt in self._contexts}
        pairs = {prompt: lines for prompt in prompts - known.keys() if len(lines := prompt.splitlines()) == 2}
        texts = self._encode([line for lines in pairs.values() for line in lines])
        fresh = {
            prompt: _compared(texts[first], texts[second]).logit for prompt, (first, second) in sorted(pairs.items())
        }
        with self._lock:
            self._contexts.update(fresh)
        return known | fresh


@dataclass(frozen=True, slots=True)
class _Compared:
    logit: float
    findings: tuple[Finding, Finding]
    """The first text in the second, and the second in the first."""


def _compared(first: Material, second: Material) -> _Compared:
    forward, backward = (
        support_of(one, other, None, ALIKE, by_lexicon) for one, other in ((first, second), (second, first))
    )
    return _Compared(both_ways(forward.logit, backward.logit), (forward, backward))


def _judged(first: Material, second: Material, context: float | None) -> Judgement:
    if first.words and [word.stem for word in first.words] == [word.stem for word in second.words]:
        return Judgement(1.0, "the phrases are the same", " ".join(first.passages))
    found = _compared(first, second)
    alone = found.logit + LENIENCE
    logit = alone if context is None else alone + CONTEXT * context
    if logit >= 0:
        reason = "the words of each phrase have counterparts in the other"
    elif alone >= 0:
        reason = "the sentences around the phrases say different things"
    else:
        reason = _why_not(first, second, found.findings)
    return Judgement(graded(logit, replace(ALIKE, bias=ALIKE.bias + LENIENCE)), reason, " ".join(first.passages))


def _why_not(first: Material, second: Material, findings: tuple[Finding, Finding]) -> str:
    for text, finding in zip((first, second), findings, strict=True):
        for fault in finding.faults[:1]:
            return _said(text, fault)
    lost = [
        f"“{text.words[index].surface}”"
        for text, finding in zip((first, second), findings, strict=True)
        if finding.path is not None
        for index, like in zip(finding.path.claim, finding.path.closest, strict=True)
        if like < 0.5
    ]
    if lost:
        return f"nothing in the other phrase corresponds to {', '.join(dict.fromkeys(lost[:_LISTED]))}"
    if not (first.words and second.words):
        return "a phrase has no words"
    return "the phrases put their words together in different ways"


def _said(text: Material, fault: Fault) -> str:
    word = f"“{text.words[fault.word].surface}”"
    return _REASONS.get(fault.kind, "{} is not in the other phrase").format(word)


def by_lexicon(claim: Material, reference: Material, likeness: Numbers) -> None:
    """Set the likeness of words whose relation the lexicon knows: (claim's content words, reference's)."""
    there = [(column, _known(reference.words[index].surface.lower())) for column, index in enumerate(reference.content)]
    for row, index in enumerate(claim.content):
        own = _known(claim.words[index].surface.lower())
        if not own.lemmas:
            continue
        for column, other in there:
            worth = _worth(own, other)
            if worth is not None and likeness[row, column] < SAME_MEANING:
                likeness[row, column] = min(likeness[row, column], worth) if worth == OPPOSITE else worth


@dataclass(frozen=True, slots=True)
class _Known:
    lemmas: frozenset[str]
    synonyms: frozenset[str]
    antonyms: frozenset[str]
    derived: frozenset[str]


@lru_cache(maxsize=_KEPT_WORDS)
def _known(word: str) -> _Known:
    known = lexicon()
    return _Known(known.lemmas(word), known.synonyms(word), known.antonyms(word), known.derived(word))


def _worth(one: _Known, other: _Known) -> float | None:
    if not one.lemmas.isdisjoint(other.lemmas):
        return SAME_MEANING
    if not (one.antonyms.isdisjoint(other.lemmas) and other.antonyms.isdisjoint(one.lemmas)):
        return OPPOSITE
    if not one.synonyms.isdisjoint(other.lemmas):
        return SAME_MEANING
    return None if one.derived.isdisjoint(other.lemmas) and other.derived.isdisjoint(one.lemmas) else SAME_ROOT
