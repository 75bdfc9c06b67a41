"""The judge that needs no endpoint: a small network over a small embedding model, and guards that object."""

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from threadpoolctl import threadpool_limits

from models.claims import ClaimKind, Claims
from models.local.answerability import AnswerJudge
from models.local.encoding import TextEncoder
from models.local.entailment import judge_entailment
from models.local.equivalence import judge_paraphrase, judge_phrases
from models.local.network import Comparison, load_comparison
from models.local.response import Held, Response
from models.local.settings import BUNDLED_MODEL, LocalSettings
from models.local_grader import Graded, Wanted, always
from models.model_loading import THREADS
from models.protocol import ModelFailed

VERSION = "12"
"""Changes with every number that grades depend on, learned or not, and with the guards: verdicts name it."""


class EmbeddingJudge:
    """Grades claims on the processor, the same every time.

    The models are loaded on first use, or by `load`. Any number of threads may call `judge`.
    """

    def __init__(self, settings: LocalSettings | None = None) -> None:
        self._settings = settings or LocalSettings()
        self._encoder = TextEncoder()
        self._network: Comparison | None = None
        self._lock = threading.Lock()
        self.answers = AnswerJudge(self._encoder.references)
        """The judge of the kind `answerability`."""

    @property
    def name(self) -> str:
        """The model and the version of the weights, as verdicts name their judge."""
        return f"local/{BUNDLED_MODEL}@{VERSION}"

    def load(self) -> None:
        """Load the models now.

        Raises:
            ModelUnusable: one is missing or damaged.
        """
        # Small products of matrices only wait for one another on many cores.
        threadpool_limits(THREADS, user_api="blas")
        self._encoder.load()
        self._loaded()

    def judge(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or why an entry gets none; wanted or not.

        Raises:
            ModelUnusable: a model is missing or damaged; never because of the text.
        """
        judges: Mapping[ClaimKind, Callable[[Sequence[Claims]], Sequence[Graded]]] = {
            ClaimKind.SUMMARY: self._responses,
            ClaimKind.ANSWER: self._responses,
            ClaimKind.PARAPHRASE: self._paraphrases,
            ClaimKind.ENTAILMENT: self._entailments,
            ClaimKind.ANSWERABILITY: self.answers.judge,
            ClaimKind.PHRASE: self._phrases,
        }
        judged = {kind: iter(judge([one for one in batch if one.kind is kind])) for kind, judge in judges.items()}
        return [next(judged[claims.kind]) for claims in batch]

    def _responses(self, batch: Sequence[Claims]) -> list[Graded]:
        read = [Response.of(claims) for claims in batch]
        whole = [one for one in read if isinstance(one, Response)]
        asked = [text for one in whole for text in (one.claims.reference, one.question) if text]
        references = self._encoder.references(["", *asked])
        texts = self._encoder.sentences([text for one in whole for text in one.texts])
        held = [Held(one, texts, references) for one in whole]
        odds = iter(self._loaded().log_odds([each.pair for one in held for each in one.compared]))
        graded = iter([one.judgements(list(islice(odds, len(one.compared)))) for one in held])
        return [one if isinstance(one, ModelFailed) else next(graded) for one in read]

    def _paraphrases(self, batch: Sequence[Claims]) -> list[Graded]:
        references = self._encoder.references([claims.reference for claims in batch])
        texts = self._encoder.sentences([sentence for claims in batch for sentence in claims.sentences])
        return [
            judge_paraphrase([texts[sentence] for sentence in claims.sentences], references[claims.reference])
            for claims in batch
        ]

    def _entailments(self, batch: Sequence[Claims]) -> list[Graded]:
        # Text matching goes both ways: what is the sentence of one question is the reference of the next.
        texts = self._encoder.references([text for claims in batch for text in (claims.reference, *claims.sentences)])
        return [
            [judge_entailment(texts[claims.reference], texts[sentence]) for sentence in claims.sentences]
            for claims in batch
        ]

    def _phrases(self, batch: Sequence[Claims]) -> list[Graded]:
        texts = self._encoder.sentences(
            [text for one in batch for text in (one.reference, *one.sentences, *(one.around or ()))]
        )
        return [judge_phrases(claims, texts) for claims in batch]

    def _loaded(self) -> Comparison:
        with self._lock:
            if self._network is None:
                self._network = load_comparison()
            return self._network
