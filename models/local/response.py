"""A response held against its reference: what each sentence claims, what the network says of it, and what objects."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from models.claims import NO_CLAIM, SUPPORTED, ClaimKind, Claims, Judgement
from models.local.alignment import found
from models.local.encoded_text import Encoded
from models.local.guards import Facts, denials, facts, objections, states, stitched, unknown_names
from models.local.network import Odds
from models.local.sides import Pair, evidence, joined, side_of
from models.local.statements import Statement, language_of, rows_read, statements
from models.protocol import ModelFailed
from models.text.closed_class import AUXILIARIES
from models.text.negation import is_negator
from models.text.words import normalise, passages, words

BIAS, NETWORK, LOST = 1.07, 0.55, -1.77
"""From the network's log-odds, and the share of the claim's content that is nowhere in the reference, to the log-odds
of a claim: a logistic regression on pairs of sources that the network had not seen."""

_MOST = 8.0
"""Log-odds of the network beyond which more of them say nothing more."""

REJECT_BELOW, ACCEPT_FROM = 0.35, 0.7
"""Supports between which the judge leaves a claim open: on sources that the network had not seen, 70% of the claims
are decided, and of these 80% rightly."""

CEILING, UNDECIDED = 0.3, 0.49
"""Supports that no claim exceeds to which a guard objects, and none with a name that the reference does not have. Lower
ones would tell a response with such a claim from others no better."""

_STATED, _MISSING = 0.9, 0.1
"""Supports of data, all of whose values the reference states, and of other data."""

_YES = frozenset("yes yeah yep correct right true indeed absolutely certainly definitely".split())
_NO = frozenset("no nope false incorrect wrong".split())
_REPLYING = _YES | _NO | AUXILIARIES | frozenset("i you he she it we they there this that these those".split())


@dataclass(frozen=True, slots=True)
class _Reply:
    """A sentence that is no more than yes or no: it claims what the question asks, or denies it."""

    question: str
    denies: bool


@dataclass(frozen=True, slots=True)
class Response:
    """The claims of a response's sentences, before anything is encoded."""

    claims: Claims
    read: tuple[Statement | None, ...]
    """None for what claims nothing."""
    replies: tuple[_Reply | None, ...]

    @classmethod
    def of(cls, claims: Claims) -> "Response | ModelFailed":
        """The response, or why it cannot be judged: another language, no claim."""
        for which, text in (("response", "\n".join(claims.sentences)), ("reference", claims.reference)):
            if language := language_of(text):
                detail = f"the {which} looks like the language '{language}'; the bundled judge reads English"
                return ModelFailed(detail, cause="unsupported_language")
        read = tuple(statements(claims.sentences))
        replies = tuple(_reply(sentence, _question(claims)) for sentence in claims.sentences)
        if claims.sentences and not any(read):
            return ModelFailed("no sentence of the response claims anything", cause="no_claim")
        return cls(claims, read, replies)

    @property
    def question(self) -> str:
        """The question; its words may be repeated without support."""
        return _question(self.claims)

    @property
    def texts(self) -> list[str]:
        """The texts compared as one sentence each."""
        return [text for index in range(len(self.read)) if (text := self.compared(index))]

    def compared(self, index: int) -> str:
        """The text compared in a sentence's place; empty where nothing is."""
        reply, statement = self.replies[index], self.read[index]
        return reply.question if reply is not None else statement.text if statement is not None else ""


class Compared(NamedTuple):
    """A sentence beside what it is held against."""

    pair: Pair
    passage: str
    """The nearest."""
    lost: float
    """The share of its content that is nowhere in the reference, 0 to 1."""


class Held:
    """A response, encoded, held against its encoded reference."""

    def __init__(self, response: Response, texts: Mapping[str, Encoded], references: Mapping[str, Encoded]) -> None:
        self._response = response
        self._reference = references[response.claims.reference]
        asked = references[response.question] if response.question else None
        self._asked = None if asked is None or not asked.words else side_of(asked)
        self._facts: tuple[Facts, Facts] = (
            facts("\n".join(map(rows_read, self._reference.passages))),
            facts(response.question),
        )
        self._places = [facts(rows_read(passage)) for passage in self._reference.passages]
        self._pairs: dict[int, Compared] = {}
        if not self._reference.words:
            return
        reference = side_of(self._reference)
        for index in range(len(response.read)):
            claim = texts.get(response.compared(index))
            if claim is None or not claim.words:
                continue
            side = side_of(claim)
            there, nearest = evidence(side, reference)
            like = found(claim, self._reference)
            if asked is not None and self._asked is not None and response.replies[index] is None:
                # Words that answer a question are read behind it, and its own need no support.
                there, like = joined([self._asked, there]), np.maximum(like, found(claim, asked))
            lost = round(1.0 - float(like.mean()), 4)
            self._pairs[index] = Compared((side, there), self._reference.passages[nearest], lost)

    @property
    def compared(self) -> list[Compared]:
        """The sentences that are to be compared."""
        return list(self._pairs.values())

    def judgements(self, odds: Sequence[Odds]) -> list[Judgement]:
        """A judgement of each sentence, from what the network says of `pairs`."""
        known = dict(zip(self._pairs, odds, strict=True))
        return [self._judged(index, known.get(index)) for index in range(len(self._response.read))]

    def _judged(self, index: int, odds: Odds | None) -> Judgement:
        statement, reply = self._response.read[index], self._response.replies[index]
        if statement is None and reply is None:
            return NO_CLAIM
        if statement is not None and statement.values:
            return self._data(statement)
        if odds is None:
            return Judgement(
                0.0, "there is nothing to compare" if self._reference.words else "the reference is empty", None
            )
        pair = self._pairs[index]
        passage = pair.passage
        support = supported(odds.denied if reply is not None and reply.denies else odds.supported, pair.lost)
        if reply is None:
            claim = facts(self._response.compared(index))
            against = chain(
                objections(claim, *self._facts, facts(rows_read(passage))),
                stitched(claim, self._places, self._facts[1]),
            )
            if (objection := next(against, None)) is not None:
                return Judgement(min(support, CEILING), objection, passage)
            if (name := next(unknown_names(claim, *self._facts), None)) is not None:
                # Often right all the same, as where the reference says who it is in other words.
                support = min(support, UNDECIDED)
                return Judgement(support, name, passage, unsure=support >= REJECT_BELOW)
        told = f"{'' if support >= SUPPORTED else 'not '}supported by “{passage}”, the passage nearest to it"
        return Judgement(support, told, passage, unsure=REJECT_BELOW <= support < ACCEPT_FROM)

    def _data(self, statement: Statement) -> Judgement:
        whole, _ = self._facts
        places = self._places if statement.together else [whole]
        if any(all(states(value, place) for value in statement.values) for place in places):
            return Judgement(_STATED, "the reference states each of its values", None)
        lacks = next((value for value in statement.values if not states(value, whole)), None)
        reason = (
            "no passage states all values of the row" if lacks is None else f"the reference does not state '{lacks}'"
        )
        return Judgement(_MISSING, reason, None)


def supported(odds: float, lost: float) -> float:
    """The support, 0 to 1, rounded so that the last digits of the arithmetic never show."""
    return round(1.0 / (1.0 + math.exp(-BIAS - NETWORK * max(-_MOST, min(_MOST, odds)) - LOST * lost)), 4)


def _question(claims: Claims) -> str:
    return (claims.prompt or "") if claims.kind is ClaimKind.ANSWER else ""


def _reply(sentence: str, prompt: str) -> _Reply | None:
    """None where a sentence says more than yes or no, or the last sentence of the prompt asks something else."""
    said = [word.surface.lower() for word in words(normalise(sentence))]
    if not said or not all(word in _REPLYING or is_negator(word) for word in said):
        return None
    negative = any(word in _NO or is_negator(word) for word in said)
    if not negative and not any(word in _YES or word in AUXILIARIES for word in said):
        return None
    question = ([*passages(prompt)] or [""])[-1]
    asked = words(normalise(question))
    if not asked or asked[0].surface.lower() not in AUXILIARIES or denials(asked):
        return None
    return _Reply(question.rstrip(" ?？"), negative)
