"""A named network as the local judge: a probability for each sentence, from the piece that supports it best."""

import os
import re
from collections.abc import Iterator, Sequence

from models.grounding.catalogue import NamedJudge
from models.grounding.hub import Say, fetched
from models.grounding.pairs import (
    BATCH_TOKENS,
    GPU_BATCH_TOKENS,
    Comparison,
    PairScorer,
    PieceSupport,
    TooManyTokens,
    torch_network,
)
from models.grounding.pieces import nearest_sentence, pieces_of, speaks_of_same
from models.local.no_claim import claims_nothing
from models.model_loading import THREADS, loading
from models.protocol import NO_CLAIM, SUPPORTED, ClaimKind, Claims, Graded, Judgement, ModelFailed
from models.wording import split_sentences

BATCH_CHARACTERS = 8 * 4 * BATCH_TOKENS
"""Size of a batch of entries, about eight forward passes on a processor: texts of like length meet, and those that
arrive meanwhile do not wait long."""
_STANDS_ALONE = 5
"""Words from which on a sentence of an answer is a statement; of fewer ("Yes.") the question is a part."""


_Asked = tuple[tuple[bool, ...], list[Comparison], list[Comparison]]
"""Which sentences of an entry claim something; the comparison of each of these with the reference; and, for each
sentence of the reference of a paraphrase, one with the candidate."""


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
        """Download the network if it is not kept, and read its weights; raises ModelUnusable."""
        weights = fetched(self._named.weights, self._say)
        config = fetched(self._named.config, self._say) if self._named.config else weights
        # Threads that spin while they wait for one another take the cores from the threads they wait for.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        with loading("judge", self._named.name):
            import torch
            from transformers import AutoTokenizer

            torch.set_num_threads(THREADS)
            model, probability, limit = self._named.open(weights, config)
            tokenizer = AutoTokenizer.from_pretrained(config, local_files_only=True)
            device, most = ("cuda", GPU_BATCH_TOKENS) if torch.cuda.is_available() else ("cpu", BATCH_TOKENS)
            network = torch_network(model(), device=device, constant=self._named.constant)
            self._scorer = PairScorer(
                tokenizer, network, probability, limit=limit, text=self._named.text, batch_tokens=most
            )

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or the reason if an entry cannot be judged."""
        if self._scorer is None:
            raise RuntimeError("the judge is not loaded")
        asked = [self._asked(claims) for claims in batch]
        read = [each for each in asked if not isinstance(each, ModelFailed)]
        supports = iter(self._scorer.best_supports([one for _, there, back in read for one in (*there, *back)]))
        return [
            each if isinstance(each, ModelFailed) else self._graded(claims, each, supports)
            for claims, each in zip(batch, asked, strict=True)
        ]

    def _asked(self, claims: Claims) -> _Asked | ModelFailed:
        """What is compared, or why the claims cannot be."""
        if claims.kind is ClaimKind.ANSWERABILITY:
            said = "it compares statements, and cannot say if a text answers a question; configure an endpoint as judge"
            return ModelFailed(f"{self._named.name}: {said}", cause="judge_failed")
        if not claims.reference.strip():
            said = "the text to hold the claims against is empty"
            return ModelFailed(f"{self._named.name}: {said}", cause="judge_failed")
        if claims.kind is ClaimKind.COMPATIBLE:
            return _compatible(claims)
        is_response = claims.kind in {ClaimKind.SUMMARY, ClaimKind.ANSWER}
        claiming = tuple(not (is_response and claims_nothing(sentence)) for sentence in claims.sentences)
        if claims.sentences and not any(claiming):
            return ModelFailed("no sentence of the response claims anything", cause="no_claim")
        pieces = pieces_of(claims.reference, self._named.words)
        there: list[Comparison] = [
            (pieces, _statement(one, claims))
            for one, is_claim in zip(claims.sentences, claiming, strict=True)
            if is_claim
        ]
        back: list[Comparison] = []
        if claims.kind in {ClaimKind.PARAPHRASE, ClaimKind.PHRASE}:
            candidate = pieces_of(" ".join(claims.sentences), self._named.words) or [""]
            back = [(candidate, sentence.text) for sentence in split_sentences(claims.reference)]
        return claiming, there, back

    def _graded(self, claims: Claims, asked: _Asked, supports: Iterator[PieceSupport | TooManyTokens]) -> Graded:
        claiming, there, back = asked
        found = [next(supports) for _ in (*there, *back)]
        known = [one for one in found if isinstance(one, PieceSupport)]
        if len(known) < len(found):
            fault = next(one for one in found if isinstance(one, TooManyTokens))
            return ModelFailed(str(fault), cause="too_long")
        ahead = iter(known)
        of_claims = [next(ahead) if is_claim else None for is_claim in claiming]
        left_out = min(((one.score, claim) for one, (_, claim) in zip(ahead, back, strict=True)), default=None)
        judgements = []
        for sentence, support in zip(claims.sentences, of_claims, strict=True):
            if support is None:
                judgements.append(NO_CLAIM)
            elif left_out is not None and left_out[0] < support.score:
                judgements.append(_as_left_out(*left_out, self._named.name))
            else:
                judgements.append(_as_found(support, sentence, self._named.name))
        return judgements


def _compatible(claims: Claims) -> _Asked:
    """Only what speaks of the same is compared: that a text does not say a sentence contradicts nothing."""
    near = [nearest_sentence(claims.reference, sentence) for sentence in claims.sentences]
    same = tuple(map(speaks_of_same, near, claims.sentences))
    pairs = zip(near, claims.sentences, same, strict=True)
    return same, [([there], one) for there, one, is_same in pairs if is_same], []


def _statement(sentence: str, claims: Claims) -> str:
    """The claim: an answer of few words only says something together with its question."""
    if claims.kind is not ClaimKind.ANSWER or not claims.prompt or len(re.findall(r"\w+", sentence)) >= _STANDS_ALONE:
        return sentence
    sentences = [one.text for one in split_sentences(claims.prompt)]
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
