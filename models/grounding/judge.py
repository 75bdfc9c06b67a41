"""A named network as the local judge: a probability for each sentence, from the piece that supports it best."""

import os
import re
from collections.abc import Sequence

from models.grounding.catalogue import NamedJudge
from models.grounding.hub import Say, fetched
from models.grounding.pairs import BATCH_TOKENS, GPU_BATCH_TOKENS, Comparison, PairScorer, PieceSupport
from models.grounding.pieces import nearest_sentence, pieces_of, speaks_of_same
from models.local.text import claims_nothing
from models.model_loading import THREADS, loading
from models.protocol import NO_CLAIM, SUPPORTED, ClaimKind, Claims, Graded, Judgement, ModelFailed
from models.wording import split_sentences

_STANDS_ALONE = 5
"""Words from which on a sentence of an answer is a statement; of fewer ("Yes.") the question is a part."""

_Asked = tuple[list[Comparison | None], list[Comparison]]
"""For each sentence of an entry its comparison with the reference, None if it claims nothing; and for each sentence of
the reference of a paraphrase one with the candidate."""


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
            tokenizer = AutoTokenizer.from_pretrained(config, local_files_only=True, padding_side="right")
            device, most = ("cuda", GPU_BATCH_TOKENS) if torch.cuda.is_available() else ("cpu", BATCH_TOKENS)
            self._scorer = PairScorer(
                tokenizer,
                model.to(device).eval(),
                probability,
                limit=limit,
                text=self._named.text,
                constant=self._named.constant,
                device=device,
                batch_tokens=most,
            )

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        """A judgement for each sentence of each entry, in order, or the reason if an entry cannot be judged."""
        if self._scorer is None:
            raise RuntimeError("the judge is not loaded")
        asked = [self._asked(claims) for claims in batch]
        read = [
            one for each in asked if not isinstance(each, ModelFailed) for one in (*filter(None, each[0]), *each[1])
        ]
        supports = iter(self._scorer.best_supports(read))
        graded: list[Graded] = []
        for claims, each in zip(batch, asked, strict=True):
            if isinstance(each, ModelFailed):
                graded.append(each)
                continue
            there = [one and next(supports) for one in each[0]]
            back = [(next(supports), sentence) for _, sentence in each[1]]
            faults = (one for one in (*there, *(one for one, _ in back)) if isinstance(one, ModelFailed))
            left_out = min(((one.score, text) for one, text in back if isinstance(one, PieceSupport)), default=None)
            graded.append(
                next(faults, None)
                or [
                    self._judgement(one, sentence, left_out) if isinstance(one, PieceSupport) else NO_CLAIM
                    for one, sentence in zip(there, claims.sentences, strict=True)
                ]
            )
        return graded

    def _asked(self, claims: Claims) -> _Asked | ModelFailed:
        """What is compared, or why the claims cannot be."""
        fault = None
        if claims.kind is ClaimKind.ANSWERABILITY:
            fault = (
                "it compares statements, and cannot say if a text answers a question; configure an endpoint as judge"
            )
        elif not claims.reference.strip():
            fault = "the text to hold the claims against is empty"
        if fault:
            return ModelFailed(f"{self._named.name}: {fault}", cause="judge_failed")
        if claims.kind is ClaimKind.COMPATIBLE:
            # Only what speaks of the same is compared: that a text does not say a sentence contradicts nothing.
            near = [(nearest_sentence(claims.reference, one), one) for one in claims.sentences]
            return [([there], one) if speaks_of_same(there, one) else None for there, one in near], []
        is_response = claims.kind in {ClaimKind.SUMMARY, ClaimKind.ANSWER}
        if is_response and claims.sentences and all(map(claims_nothing, claims.sentences)):
            return ModelFailed("no sentence of the response claims anything", cause="no_claim")
        pieces = pieces_of(claims.reference, self._named.words)
        there: list[Comparison | None] = [
            None if is_response and claims_nothing(one) else (pieces, _statement(one, claims))
            for one in claims.sentences
        ]
        if claims.kind not in {ClaimKind.PARAPHRASE, ClaimKind.PHRASE}:
            return there, []
        candidate = pieces_of(" ".join(claims.sentences), self._named.words) or [""]
        return there, [(candidate, sentence.text) for sentence in split_sentences(claims.reference)]

    def _judgement(self, support: PieceSupport, sentence: str, left_out: tuple[float, str] | None) -> Judgement:
        """`left_out` is the sentence of a paraphrase's reference that the candidate supports least, if there is one."""
        judge, score = self._named.name, support.score
        if left_out is not None and left_out[0] < score:
            score, missing = left_out
            if score < SUPPORTED:
                said = f"it does not say what the other text says: “{missing}” ({judge} gives that only {score:.2f})"
                return Judgement(score, said, missing)
        nearest = nearest_sentence(support.piece, sentence)
        if score >= SUPPORTED:
            return Judgement(score, f"{judge} gives it {score:.2f}, by the passage with “{nearest}”", nearest)
        return Judgement(score, f"{judge} gives it only {score:.2f}; the nearest passage says “{nearest}”", nearest)


def _statement(sentence: str, claims: Claims) -> str:
    """The claim: an answer of few words only says something together with its question."""
    if claims.kind is not ClaimKind.ANSWER or not claims.prompt or len(re.findall(r"\w+", sentence)) >= _STANDS_ALONE:
        return sentence
    sentences = [one.text for one in split_sentences(claims.prompt)]
    questions = [one for one in sentences if one.endswith("?")] or sentences
    return f"{questions[-1]} {sentence}" if questions else sentence
