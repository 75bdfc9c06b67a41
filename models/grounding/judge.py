"""A named network as the local judge: a probability for each sentence, from the piece that supports it best."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.grounding.catalogue import NamedJudge
from models.grounding.hub import Say, fetched
from models.grounding.pairs import BATCH_TOKENS, GPU_BATCH_TOKENS, PairScorer, TooManyTokens, TorchNetwork
from models.grounding.pieces import nearest_sentence, pieces_of, speaks_of_same
from models.grounding.support import ClaimComparison, PieceSupport, best_supports
from models.local.no_claim import claims_nothing
from models.local_grader import Graded
from models.model_loading import THREADS, loading
from models.protocol import NO_CLAIM, SUPPORTED, ClaimKind, Claims, Judgement, ModelFailed
from models.wording import split_sentences

BATCH_CHARACTERS = 8 * 4 * BATCH_TOKENS
"""Size of a batch of entries, about eight forward passes on a processor: texts of like length meet, and those that
arrive meanwhile do not wait long."""
_STANDS_ALONE = 5
"""Words from which on a sentence of an answer is a statement; of fewer ("Yes.") the question is a part."""


@dataclass(frozen=True, slots=True)
class _Comparisons:
    """The texts compared for the sentences of one entry."""

    claims: tuple[bool, ...]
    """Which sentences claim something; the others are not compared."""
    there: tuple[ClaimComparison, ...]
    """For each other sentence: is it supported by the reference?"""
    back: tuple[ClaimComparison, ...]
    """For each sentence of the reference of a paraphrase: is it supported by the candidate?"""


class GroundingJudge:
    """Grades by a network of the catalogue, which compares statements."""

    def __init__(self, named: NamedJudge, *, say: Say) -> None:
        """`say` shows messages on downloads, on the thread that loads."""
        self._named = named
        self._say = say
        self._scorer: PairScorer | None = None

    @property
    def name(self) -> str:
        """The network and its version, as verdicts name their judge."""
        revision = self._named.weights.revision
        return f"local/{self._named.name}" + ("" if revision is None else f"@{revision[:12]}")

    def load(self) -> None:
        """Download the network if it is not kept, and read its weights.

        Raises:
            ModelUnusable: it cannot be had, or is of the wrong kind.
        """
        weights = fetched(self._named.weights, self._say)
        config = fetched(self._named.config, self._say) if self._named.config else weights
        # Threads that spin while they wait for one another take the cores from the threads they wait for.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        with loading("judge", self._named.name):
            import torch
            from transformers import AutoTokenizer

            torch.set_num_threads(THREADS)
            checkpoint = self._named.open(weights, config)
            tokenizer = AutoTokenizer.from_pretrained(config, local_files_only=True)
            device = "cuda" if torch.cuda.is_available() else "cpu"
            network = TorchNetwork(checkpoint.model(), device=device, constant=self._named.constant)
            self._scorer = PairScorer(
                tokenizer,
                network,
                checkpoint.probability,
                limit=checkpoint.limit,
                text=self._named.text,
                batch_tokens=GPU_BATCH_TOKENS if device == "cuda" else BATCH_TOKENS,
            )

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or the reason if an entry cannot be judged."""
        return list(self._graded(batch))

    def _graded(self, batch: Sequence[Claims]) -> Iterator[Graded]:
        if self._scorer is None:
            raise RuntimeError("the judge is not loaded")
        asked = [None if _fault(claims) else self._asked(claims) for claims in batch]
        comparisons = [one for each in asked if each for one in (*each.there, *each.back)]
        supports = iter(best_supports(self._scorer, comparisons))
        for claims, each in zip(batch, asked, strict=True):
            if each is None:
                yield ModelFailed(f"{self._named.name}: {_fault(claims)}", cause="judge_failed")
                continue
            found = [next(supports) for _ in (*each.there, *each.back)]
            if claims.sentences and not any(each.claims) and claims.kind is not ClaimKind.COMPATIBLE:
                yield ModelFailed("no sentence of the response claims anything", cause="no_claim")
                continue
            faults = [one for one in found if isinstance(one, TooManyTokens)]
            if faults:
                yield ModelFailed(str(faults[0]), cause="too_long")
            else:
                known = [one for one in found if isinstance(one, PieceSupport)]
                yield self._judgements(claims, each, known)

    def _asked(self, claims: Claims) -> _Comparisons:
        graded = claims.kind in {ClaimKind.SUMMARY, ClaimKind.ANSWER}
        if claims.kind is ClaimKind.COMPATIBLE:
            return _compatible(claims)
        claiming = tuple(not (graded and claims_nothing(sentence)) for sentence in claims.sentences)
        pieces = tuple(pieces_of(claims.reference, self._named.words))
        there = tuple(
            ClaimComparison(pieces, _statement(sentence, claims))
            for sentence, is_claim in zip(claims.sentences, claiming, strict=True)
            if is_claim
        )
        back: tuple[ClaimComparison, ...] = ()
        if claims.kind in {ClaimKind.PARAPHRASE, ClaimKind.PHRASE}:
            candidate = tuple(pieces_of(" ".join(claims.sentences), self._named.words)) or ("",)
            back = tuple(ClaimComparison(candidate, sentence) for sentence in _sentences_of(claims.reference))
        return _Comparisons(claiming, there, back)

    def _judgements(self, claims: Claims, asked: _Comparisons, found: Sequence[PieceSupport]) -> tuple[Judgement, ...]:
        there, back = iter(found[: len(asked.there)]), found[len(asked.there) :]
        left_out = min(zip(back, asked.back, strict=True), key=lambda one: one[0].score, default=None)
        judgements = []
        for sentence, is_claim in zip(claims.sentences, asked.claims, strict=True):
            if not is_claim:
                judgements.append(NO_CLAIM)
                continue
            support = next(there)
            if left_out is not None and left_out[0].score < support.score:
                judgements.append(_as_left_out(left_out[0].score, left_out[1].claim, self._named.name))
            else:
                judgements.append(_as_found(support, sentence, self._named.name))
        return tuple(judgements)


def _compatible(claims: Claims) -> _Comparisons:
    """Only what speaks of the same is compared: that a text does not say a sentence contradicts nothing."""
    near = [nearest_sentence(claims.reference, sentence) for sentence in claims.sentences]
    same = tuple(map(speaks_of_same, near, claims.sentences))
    pairs = zip(near, claims.sentences, same, strict=True)
    return _Comparisons(same, tuple(ClaimComparison((there,), one) for there, one, is_same in pairs if is_same), ())


def _fault(claims: Claims) -> str | None:
    """Why claims cannot be compared with their reference, or None."""
    if claims.kind is ClaimKind.ANSWERABILITY:
        return "it compares statements, and cannot say if a text answers a question; configure an endpoint as judge"
    return None if claims.reference.strip() else "the text to hold the claims against is empty"


def _sentences_of(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


def _statement(sentence: str, claims: Claims) -> str:
    """The claim: an answer of few words only says something together with its question."""
    if claims.kind is not ClaimKind.ANSWER or not claims.prompt or len(re.findall(r"\w+", sentence)) >= _STANDS_ALONE:
        return sentence
    sentences = _sentences_of(claims.prompt)
    questions = [one for one in sentences if one.endswith("?")] or sentences
    return f"{questions[-1]} {sentence}" if questions else sentence


def _as_found(support: PieceSupport, sentence: str, judge: str) -> Judgement:
    nearest = nearest_sentence(support.piece, sentence)
    if support.score >= SUPPORTED:
        reason = f"{judge} gives it {support.score:.2f}, by the passage with “{nearest}”"
    else:
        reason = f"{judge} gives it only {support.score:.2f}; the nearest passage says “{nearest}”"
    return Judgement(support.score, reason, nearest)


def _as_left_out(score: float, sentence: str, judge: str) -> Judgement:
    if score >= SUPPORTED:
        return Judgement(score, f"{judge} gives both directions {score:.2f} or more", sentence)
    reason = f"it does not say what the other text says: “{sentence}” ({judge} gives that only {score:.2f})"
    return Judgement(score, reason, sentence)
