"""The judge that needs no endpoint, key or network: for the first five minutes, tests and CI."""

from collections.abc import Mapping, Sequence

from threadpoolctl import threadpool_limits

from models.local.alignment import Text, Texts
from models.local.claims import asked, judge_compatible, judge_question, judge_response, unread
from models.local.encoder import bundled
from models.local.matching import judge_entailment, judge_paraphrase, judge_phrase
from models.local_grader import Graded
from models.model_loading import THREADS
from models.protocol import ClaimKind, Claims, Judgement
from schemas.base import BUNDLED_MODEL

VERSION = "13"
"""Changes with every number that grades depend on, fitted or not: verdicts name it."""


class BundledJudge:
    """Grades claims on the processor, the same every time; any number of threads may call `judge`."""

    name = f"local/{BUNDLED_MODEL}@{VERSION}"

    def __init__(self) -> None:
        self._texts = Texts()

    def load(self) -> None:
        """Load the model now. Raises ModelUnusable if it is missing or damaged."""
        # Small products of matrices only wait for one another on many cores.
        threadpool_limits(THREADS, user_api="blas")
        bundled()

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or why an entry gets none.

        Raises:
            ModelUnusable: the model is missing or damaged; never because of the text.
        """
        faults = {at: fault for at, one in enumerate(batch) if (fault := unread(one))}
        read = [one for at, one in enumerate(batch) if at not in faults]
        named = (text for one in read for text in (one.reference, *one.sentences, *(one.around or ())))
        texts = self._texts.of([*named, *(text for one in read for text in (" ".join(one.sentences), asked(one)))])
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
            return judge_response(claims, texts)
