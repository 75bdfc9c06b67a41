"""The judge that needs no endpoint: sentences held against a reference with a small embedding model."""

import hashlib
import threading
from collections.abc import Mapping, Sequence

from cachetools import LRUCache

from checkers.oracle.claims import SUPPORTED, Claims, Judgement
from checkers.oracle.local.answers import AnswerJudge
from checkers.oracle.local.encoded_text import Encoded, draft, encoded_text, joined, split
from checkers.oracle.local.encoder import BUNDLED, Encoder, without_foreign
from checkers.oracle.local.entailment import judge_entailment
from checkers.oracle.local.fillers import fillers
from checkers.oracle.local.phrases import PhraseJudge
from checkers.oracle.local.replies import Reply, reply_of
from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.local.support import (
    EQUIVALENCE_WEIGHTS,
    NOTHING_FOUND,
    SUPPORT_WEIGHTS,
    VERSION,
    both_ways,
    graded,
    reason_of,
    support_of,
)
from checkers.oracle.local_grader import Wanted, always
from checkers.oracle.model_loading import use_processor_threads
from checkers.text.words import passages


class EmbeddingJudge:
    """Grades claims by meaning, numbers, names, negation and word order, on the processor, the same every time.

    The model is loaded on first use, or by `load`. Any number of threads may call `judge`.
    """

    def __init__(self, settings: LocalSettings | None = None) -> None:
        self._settings = settings or LocalSettings()
        self._encoder = Encoder(self._settings)
        self._references: LRUCache[str, Encoded] = LRUCache(self._settings.cached_references)
        self._lock = threading.Lock()
        self._phrases = PhraseJudge(self._sentences)
        self.answers = AnswerJudge(self._encoder, self._references_of)
        """Of the task `answerability`."""

    @property
    def name(self) -> str:
        """The model and the version of the weights, as verdicts name their judge."""
        return f"local/{self._settings.model or BUNDLED}@{VERSION}"

    def load(self) -> None:
        """Load the model now.

        Raises:
            ModelUnusable: it is missing or of the wrong kind.
        """
        use_processor_threads(self._settings.threads)
        self._encoder.load()

    def judge(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[list[Judgement]]:
        """One judgement for each sentence of each entry, in order, wanted or not: it is quick.

        Raises:
            ModelUnusable: the model is missing or of the wrong kind; never because of the text.
        """
        own = {"phrase": self._phrases.judge, "answerability": self.answers.judge}
        judged = {task: iter(judge([claims for claims in batch if claims.task == task])) for task, judge in own.items()}
        others = iter(self._claims([claims for claims in batch if claims.task not in own]))
        return [next(judged.get(claims.task, others)) for claims in batch]

    def _claims(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        # Text matching goes both ways: what is the sentence of one question is the reference of the next.
        matched = [sentence for claims in batch if claims.task == "entailment" for sentence in claims.sentences]
        references = self._references_of([*(claims.reference for claims in batch), *matched])
        prompts = self._references_of([claims.prompt for claims in batch if claims.task == "answer" and claims.prompt])
        replies = [[_reply(claims, sentence) for sentence in claims.sentences] for claims in batch]
        read = [
            [reply.question if reply else sentence for reply, sentence in zip(own, claims.sentences, strict=True)]
            for own, claims in zip(replies, batch, strict=True)
        ]
        asked = [
            text for claims, texts in zip(batch, read, strict=True) if claims.task != "entailment" for text in texts
        ]
        sentences = self._sentences(asked)
        results = []
        for claims, texts, own in zip(batch, read, replies, strict=True):
            known = prompts[claims.prompt] if claims.task == "answer" and claims.prompt else None
            prepared = references if claims.task == "entailment" else sentences
            said = [prepared[text] for text in texts]
            results.append(self._judged(claims, said, own, references[claims.reference], known))
        return results

    def _judged(
        self,
        claims: Claims,
        sentences: list[Encoded],
        replies: list[Reply | None],
        reference: Encoded,
        known: Encoded | None,
    ) -> list[Judgement]:
        if claims.task == "entailment":
            return [judge_entailment(reference, sentence) for sentence in sentences]
        same = claims.task == "paraphrase"
        reverse = self._reverse(sentences, reference) if same else None
        judgements = []
        for claim, reply, nothing in zip(sentences, replies, fillers(claims), strict=True):
            if nothing is not None:
                judgements.append(nothing)
                continue
            weights = EQUIVALENCE_WEIGHTS if same else SUPPORT_WEIGHTS
            # A question supports nothing of a reply that stands for it.
            finding = support_of(claim, reference, known if reply is None else None, weights)
            logit = finding.logit if reverse is None else both_ways(finding.logit, reverse)
            support = graded(logit, weights)
            reason, passage = reason_of(claim, reference, finding, supported=support >= SUPPORTED)
            judgement = Judgement(support, reason, passage)
            judgements.append(judgement if reply is None else reply.judgement(judgement, finding.faults))
        return judgements

    def _reverse(self, sentences: list[Encoded], reference: Encoded) -> float:
        """How well the candidate as a whole supports the reference, as mean log-odds over the reference's passages."""
        candidate = joined(sentences)
        parts = split(reference)
        if not parts:
            return NOTHING_FOUND
        return sum(support_of(part, candidate, None, EQUIVALENCE_WEIGHTS).logit for part in parts) / len(parts)

    def _sentences(self, texts: Sequence[str]) -> dict[str, Encoded]:
        return self._encoded({text: (text,) for text in texts}, 100)

    def _references_of(self, texts: Sequence[str]) -> dict[str, Encoded]:
        """References and questions, from the cache or encoded in one go."""
        ready = {text: found for text in texts if (found := self._cached(text)) is not None}
        fresh = self._encoded({text: tuple(passages(text)) for text in texts if text not in ready}, 1)
        for text, prepared in fresh.items():
            self._keep(text, prepared)
        return ready | fresh

    def _encoded(self, texts: Mapping[str, tuple[str, ...]], share: int) -> dict[str, Encoded]:
        drafts = {text: draft(parts, self._settings.max_words // share) for text, parts in texts.items()}
        vectors = self._encoder.encode([(d.text, d.words) for d in drafts.values()])
        english = self._settings.model is None
        return {
            text: encoded_text(drafted, without_foreign(drafted.words, found) if english else found)
            for (text, drafted), found in zip(drafts.items(), vectors, strict=True)
        }

    def _cached(self, text: str) -> Encoded | None:
        key = _digest(text)
        with self._lock:
            return self._references.get(key)

    def _keep(self, text: str, prepared: Encoded) -> None:
        with self._lock:
            self._references[_digest(text)] = prepared


def _reply(claims: Claims, sentence: str) -> Reply | None:
    return reply_of(sentence, claims.prompt, claims.reference) if claims.task == "answer" and claims.prompt else None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
