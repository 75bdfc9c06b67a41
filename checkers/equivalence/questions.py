"""The questions that are put to a model about sentences and phrases (the paper's prompts 5 to 7), and who answers."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkers.checker import Undecidable
from checkers.equivalence.alignment import MOST_CHARACTERS, PhrasePair
from models.claims import ClaimKind, Claims
from models.concurrent import gather_or_cancel
from models.prompts import PromptSet
from models.protocol import Judge, Model, ModelFailed, Question, ReplyT
from models.sampling import sample
from schemas.base import Text

MANNERS = (
    "Use other words where you can.",
    "Change the order of its parts.",
    "Begin with another word.",
    "Say it as simply as you can.",
    "Say it as a careful reporter would.",
)
PARAPHRASES = len(MANNERS)
"""Asked for of each sentence, as in the paper, but one a question: small models repeat themselves in a list."""
_ANSWER_TOKENS = 160
_PARAPHRASE_TOKENS = 40
"""Besides one for each character of the sentence."""


class EquivalenceReply(BaseModel):
    """The answer if two sentences mean, or two phrases could mean, the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    explanation: Text
    answer: Literal["yes", "no"]


class ParaphraseReply(BaseModel):
    """A sentence in other words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paraphrase: Annotated[Text, Field(min_length=1)]


class EquivalencePrompts(PromptSet):
    """Questions about sentences and phrases.

    `under` is the prompt of the application that a subject works for.
    """

    package = "checkers.equivalence.prompts"

    def alike(
        self, what: Literal["phrase", "equivalent"], first: str, second: str, under: str | None = None
    ) -> Question[EquivalenceReply]:
        """The question if two phrases could mean the same, or two sentences do."""
        texts = {"first": first, "second": second}
        task = f"equivalence.{what}"
        return self._question(what, task, EquivalenceReply, texts, under=under, max_tokens=_ANSWER_TOKENS)

    def paraphrase(self, sentence: str, manner: str, under: str | None = None) -> Question[ParaphraseReply]:
        """A sentence in other words, found in this manner: not too long, not empty, and not the sentence itself."""

        def complaint(reply: ParaphraseReply) -> str | None:
            words, length = words_of(reply.paraphrase), len(reply.paraphrase)
            if not words:
                return "the paraphrase holds no word"
            if length > MOST_CHARACTERS:
                return f"the paraphrase has {length} characters; allowed are {MOST_CHARACTERS}"
            return "the paraphrase is the sentence itself" if words == words_of(sentence) else None

        return self._question(
            "paraphrase",
            "equivalence.paraphrase",
            ParaphraseReply,
            {"sentence": sentence},
            {"manner": manner},
            under=under,
            complaint=complaint,
            max_tokens=_PARAPHRASE_TOKENS + len(sentence),
        )


def words_of(text: str) -> str:
    """A text without letter case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())


class Respondent:
    """Asks on behalf of one check. All methods raise what a model raises.

    Raises:
        Undecidable: the subject gave no usable answer.
    """

    def __init__(
        self, model: Model | None, prompts: EquivalencePrompts, *, judge: Judge | None, application: str | None = None
    ) -> None:
        """`model` writes, and decides unless there is a `judge`, which is asked about phrases in its place.

        `application` is the prompt that the application gave the subject: it is asked under it, a judge is not.
        """
        self.role: Literal["subject", "judge"] = "subject" if judge is None else "judge"
        self._under = application if judge is None else None
        self._model = model
        self._judge = judge
        self._prompts = prompts

    async def phrases(self, sentences: tuple[str, str], pairs: Sequence[PhrasePair]) -> list[EquivalenceReply]:
        """Ask if the phrases of each pair could mean the same.

        A judge is shown the `sentences` that they stand in; a subject is not.
        """
        if self._judge is None or not pairs:
            questions = [self._prompts.alike("phrase", pair.first, pair.second, self._under) for pair in pairs]
            return await gather_or_cancel(map(self._ask, questions))
        claims = [Claims(pair.first, (pair.second,), ClaimKind.PHRASE, around=sentences) for pair in pairs]
        grades = (await self._judge.grade("equivalence.phrase", claims)).reply
        return [
            EquivalenceReply(explanation=grade.reason, answer="yes" if grade.supported else "no") for (grade,) in grades
        ]

    async def paraphrases(self, sentence: str) -> list[str]:
        """The sentence in other words, `PARAPHRASES` times at most: what cannot be used or comes again is left out."""
        questions = [self._prompts.paraphrase(sentence, manner, self._under) for manner in MANNERS]
        found = await gather_or_cancel(map(self._ask_once, questions))
        kept: dict[str, str] = {}
        for one in found:
            if one is not None:
                kept.setdefault(words_of(one.paraphrase), one.paraphrase)
        return list(kept.values())

    async def equivalent(self, first: str, second: str) -> EquivalenceReply:
        """Ask if two sentences mean the same."""
        return await self._ask(self._prompts.alike("equivalent", first, second, self._under))

    async def _ask(self, question: Question[ReplyT]) -> ReplyT:
        with self._at_fault() as model:
            return (await model.ask(question)).reply

    async def _ask_once(self, question: Question[ReplyT]) -> ReplyT | None:
        """The reply without a repair turn; None if it cannot be used."""
        with self._at_fault() as model:
            return (await sample(model, question, 1))[0]

    @contextmanager
    def _at_fault(self) -> Iterator[Model]:
        if self._model is None:
            raise ModelFailed("the judge compares and cannot write; configure an endpoint", cause="judge_failed")
        try:
            yield self._model
        except ModelFailed as error:
            if self.role == "judge":
                raise
            raise Undecidable(error.cause_of_subject, f"{self._model.name}: {error.detail}") from error
