"""The judge that needs no endpoint: sentences held against a reference with a small embedding model."""

import threading
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from models.claims import ClaimKind, Claims, Judgement
from models.local.answers import AnswerJudge
from models.local.encoder import BUNDLED
from models.local.encoding import TextEncoder
from models.local.entailment import judge_entailment
from models.local.fillers import fillers
from models.local.paraphrases import judge_paraphrase
from models.local.phrases import PhraseJudge
from models.local.replies import reply_of
from models.local.sentences import Response
from models.local.settings import LocalSettings
from models.local_grader import Wanted, always
from models.model_loading import use_processor_threads

if TYPE_CHECKING:
    from models.local.comparison.network import Comparison

VERSION = "7"
"""Changes with every number that grades depend on, learned or not, and with how faults and differences are found:
verdicts name it."""


class EmbeddingJudge:
    """Grades claims with a small network that compares words by their vectors, on the processor, the same every time.

    The models are loaded on first use, or by `load`. Any number of threads may call `judge`.
    """

    def __init__(self, settings: LocalSettings | None = None) -> None:
        self._settings = settings or LocalSettings()
        self._encoder = TextEncoder(self._settings)
        self._network: Comparison | None = None
        self._lock = threading.Lock()
        self._phrases = PhraseJudge(self._encoder.sentences)
        self.answers = AnswerJudge(self._encoder.references)
        """Of claims of the kind `ANSWERABILITY`."""

    @property
    def name(self) -> str:
        """The model and the version of the weights, as verdicts name their judge."""
        return f"local/{BUNDLED}@{VERSION}"

    def load(self) -> None:
        """Load the models now.

        Raises:
            ModelUnusable: one is missing or damaged.
        """
        use_processor_threads(self._settings.threads)
        self._encoder.load()
        self._loaded()

    def judge(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[list[Judgement]]:
        """One judgement for each sentence of each entry, in order, wanted or not: it is quick.

        Raises:
            ModelUnusable: a model is missing or damaged; never because of the text.
        """
        judges = {
            ClaimKind.PHRASE: self._phrases.judge,
            ClaimKind.ANSWERABILITY: self.answers.judge,
            ClaimKind.ENTAILMENT: self._entailments,
            ClaimKind.PARAPHRASE: self._paraphrases,
        }
        judged = {
            kind: iter(judge([claims for claims in batch if claims.kind == kind])) for kind, judge in judges.items()
        }
        others = iter(self._supports([claims for claims in batch if claims.kind not in judges]))
        return [next(judged.get(claims.kind, others)) for claims in batch]

    def _entailments(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        # Text matching goes both ways: what is the sentence of one question is the reference of the next.
        texts = self._encoder.references([text for claims in batch for text in (claims.reference, *claims.sentences)])
        return [
            [judge_entailment(texts[claims.reference], texts[sentence]) for sentence in claims.sentences]
            for claims in batch
        ]

    def _paraphrases(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        references = self._encoder.references([claims.reference for claims in batch])
        sentences = self._encoder.sentences([sentence for claims in batch for sentence in claims.sentences])
        return [
            judge_paraphrase(
                [sentences[sentence] for sentence in claims.sentences], fillers(claims), references[claims.reference]
            )
            for claims in batch
        ]

    def _supports(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        references = self._encoder.references([claims.reference for claims in batch])
        prompts = self._encoder.references([asked for claims in batch if (asked := _question(claims))])
        replies = [
            [reply_of(sentence, _question(claims), claims.reference) for sentence in claims.sentences]
            for claims in batch
        ]
        read = [
            [reply.question if reply else sentence for reply, sentence in zip(own, claims.sentences, strict=True)]
            for own, claims in zip(replies, batch, strict=True)
        ]
        sentences = self._encoder.sentences([text for texts in read for text in texts])
        responses = [
            Response(
                [sentences[text] for text in texts],
                own,
                fillers(claims),
                references[claims.reference],
                prompts.get(_question(claims)),
            )
            for claims, texts, own in zip(batch, read, replies, strict=True)
        ]
        odds = iter(self._loaded().log_odds([pair for response in responses for pair in response.pairs]))
        return [response.judgements(list(islice(odds, len(response.pairs)))) for response in responses]

    def _loaded(self) -> "Comparison":
        with self._lock:
            if self._network is None:
                # Torch takes seconds to import, which only a judge that is used may cost.
                from models.local.comparison.network import load_comparison

                self._network = load_comparison()
            return self._network


def _question(claims: Claims) -> str:
    """What the response answers; empty if nothing was asked."""
    return claims.prompt or "" if claims.kind is ClaimKind.ANSWER else ""
