"""Judges if two phrases could mean the same, which a proof by phrase alignment asks.

Both ways at once, as for equal sentences, but "could": a phrase stands for more in its sentence than its words say.
Where the sentences around are known, how near these are to each other tells how likely it is that the phrases speak of
the same thing.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache

from models.claims import Claims, Judgement
from models.local.alignment import WordPath
from models.local.encoded_text import Encoded, Numbers
from models.local.entailment.likeness import rivals
from models.local.faults import turns
from models.local.support import EQUIVALENCE_WEIGHTS, SupportFinding, both_ways, graded, support_of
from models.text.lexicon import WordRelation, lexicon
from models.text.opposites import opposed

ALIKE = replace(EQUIVALENCE_WEIGHTS, jump=30.0, literal=4.0)
"""As for equal sentences, but the more words differ the less their order says: it tells who did what to whom where the
words are the same, and little where a text was put freely."""

LENIENCE = 2.0
"""Log-odds added because the phrases only have to be able to mean the same."""

CONTEXT = 3.0
"""Weight of the log-odds that the sentences around the phrases say the same. Where the phrases contradict each other
like sentences speak for them the less, the clearer the contradiction is: it is these sentences' only difference."""

WORTH: Mapping[WordRelation | None, float] = {"same": 0.9, "synonym": 0.9, "derived": 0.85}
"""What two words are worth at least by the lexicon. Kinds of things are left to the vectors: nearly each common word is
a kind of many others."""

CONTRADICTION = 5.0
"""Taken off where the phrases contradict each other and all other words are found; in between in proportion to their
share's square, as a word that stands against another says little where nothing else is the same."""

Around = tuple[str, str]
_NOWHERE: Around = ("", "")

_KEPT_CONTEXTS = 4096
_LISTED = 4
_SAME = 0.9
_LOST = 0.5


class PhraseJudge:
    """Grades phrases; any number of threads may call `judge`."""

    def __init__(self, encode: Callable[[Sequence[str]], Mapping[str, Encoded]]) -> None:
        """`encode` makes texts ready for comparison, by text."""
        self._encode = encode
        self._contexts: LRUCache[Around, float] = LRUCache(_KEPT_CONTEXTS)
        self._lock = threading.Lock()

    def judge(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        """One judgement for each phrase of each entry, in order."""
        contexts = self._contexts_of({claims.around for claims in batch if claims.around})
        texts = self._encode([text for claims in batch for text in (claims.reference, *claims.sentences)])
        return [
            [_asked(claims, texts, phrase, contexts.get(claims.around or _NOWHERE)) for phrase in claims.sentences]
            for claims in batch
        ]

    def _contexts_of(self, around: set[Around]) -> dict[Around, float]:
        """By two sentences the log-odds that they say the same."""
        with self._lock:
            known = {pair: self._contexts[pair] for pair in around if pair in self._contexts}
        missing = sorted(around - known.keys())
        texts = self._encode([sentence for pair in missing for sentence in pair])
        fresh = {(first, second): _compared(texts[first], texts[second]).logit for first, second in missing}
        with self._lock:
            self._contexts.update(fresh)
        return known | fresh


@dataclass(frozen=True, slots=True)
class _Compared:
    logit: float
    findings: tuple[SupportFinding, SupportFinding]
    """The first text in the second, and the second in the first."""


def _compared(first: Encoded, second: Encoded) -> _Compared:
    forward, backward = (
        support_of(one, other, None, ALIKE, by_lexicon) for one, other in ((first, second), (second, first))
    )
    return _Compared(both_ways(forward.logit, backward.logit), (forward, backward))


def _asked(claims: Claims, texts: Mapping[str, Encoded], phrase: str, context: float | None) -> Judgement:
    # In a fixed order: it is one question, whichever phrase is named first.
    first, second = (texts[text] for text in sorted((claims.reference, phrase)))
    support, reason = _judged(first, second, context)
    return Judgement(support, reason, claims.reference)


def _judged(first: Encoded, second: Encoded, context: float | None) -> tuple[float, str]:
    if first.words and [word.stem for word in first.words] == [word.stem for word in second.words]:
        return 1.0, "the phrases are the same"
    found = _compared(first, second)
    against = _contradiction(first, second, found.findings)
    doubt = against.weight if against else 0.0
    alone = found.logit + LENIENCE - CONTRADICTION * doubt
    logit = alone if context is None else alone + CONTEXT * (context if context < 0 else context * (1 - doubt))
    if logit >= 0:
        reason = "the words of each phrase have counterparts in the other"
    elif alone >= 0:
        reason = "the sentences around the phrases say different things"
    else:
        reason = against.reason if against else _why_not(first, second, found.findings)
    return graded(logit, replace(ALIKE, bias=ALIKE.bias + LENIENCE)), reason


def _why_not(first: Encoded, second: Encoded, findings: tuple[SupportFinding, SupportFinding]) -> str:
    if not (first.words and second.words):
        return "a phrase has no words"
    lost = [
        f"“{text.words[index].surface}”"
        for text, finding in zip((first, second), findings, strict=True)
        if finding.path is not None
        for index, like in zip(finding.path.claim, finding.path.closest, strict=True)
        if like < _LOST
    ]
    if lost:
        return f"nothing in the other phrase corresponds to {', '.join(dict.fromkeys(lost[:_LISTED]))}"
    return "the phrases put their words together in different ways"


@dataclass(frozen=True, slots=True)
class _Contradiction:
    weight: float
    """0 to 1."""
    reason: str


def _contradiction(
    first: Encoded, second: Encoded, findings: tuple[SupportFinding, SupportFinding]
) -> _Contradiction | None:
    """What cannot both be so: other figures or days, one denied and the other not, words that exclude each other."""
    forward, backward = (finding.path for finding in findings)
    if forward is None or backward is None:
        return None
    for kind in ("number", "date"):
        said = [[fault.word for fault in finding.faults if fault.kind == kind] for finding in findings]
        if said[0] and said[1]:
            return _against(first, second, (forward, backward), (said[0][0], said[1][0]))
    apart = [
        (int(mine), int(theirs))
        for mine, theirs, like in zip(forward.claim, forward.reference, forward.likeness, strict=True)
        if like < _SAME
    ]
    turned = [(text, at) for text in (first, second) for at in range(len(text.words)) if turns(text.words, at)]
    opposites = [pair for pair in apart if opposed(*_lowered(first, second, pair))]
    if (len(turned) + len(opposites)) % 2:
        if opposites:
            return _against(first, second, (forward, backward), opposites[0])
        text, at = turned[0]
        weight = _rest((forward, backward), (at, -1) if text is first else (-1, at))
        return _Contradiction(weight, f"only one of the phrases has “{text.words[at].surface}”")
    excluded = next((pair for pair in apart if _exclude_each_other(*_lowered(first, second, pair))), None)
    return None if excluded is None else _against(first, second, (forward, backward), excluded)


def _exclude_each_other(one: str, other: str) -> bool:
    return rivals(one, other) or rivals(other, one)


def _against(
    first: Encoded, second: Encoded, paths: tuple[WordPath, WordPath], words: tuple[int, int]
) -> _Contradiction:
    one, other = first.words[words[0]].surface, second.words[words[1]].surface
    return _Contradiction(_rest(paths, words), f"“{one}” stands against “{other}”")


def _rest(paths: tuple[WordPath, WordPath], words: tuple[int, int]) -> float:
    """The square of how far the content words but these two are found, on the side where fewer are."""
    shares = [1.0]
    for path, word in zip(paths, words, strict=True):
        others = path.closest[path.claim != word]
        if len(others):
            shares.append(float(others.mean()))
    return min(shares) ** 2


def _lowered(first: Encoded, second: Encoded, pair: tuple[int, int]) -> tuple[str, str]:
    return first.words[pair[0]].surface.lower(), second.words[pair[1]].surface.lower()


def by_lexicon(claim: Encoded, reference: Encoded, likeness: Numbers) -> None:
    """Raise the likeness of words that the lexicon relates: (claim's content words, reference's content words)."""
    words = lexicon()
    said, there = ([text.words[index].surface.lower() for index in text.content] for text in (claim, reference))
    for row, one in enumerate(said):
        for column, other in enumerate(there):
            worth = WORTH.get(words.close_relation(one, other))
            if worth is not None:
                likeness[row, column] = max(likeness[row, column], worth)
