"""The questions that are put to a model about sentences and phrases (the paper's prompts 5 to 7), and who answers."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import Undecidable
from checkers.equivalence.alignment import MOST_CHARACTERS
from checkers.form_test import FormCase
from models.prompts import QUESTIONS, PromptSet
from models.protocol import ClaimKind, Claims, Judge, Model, ModelFailed, Question, Reply, YesNo, odds_of, sample
from models.work import gather_or_cancel
from schemas.base import Text
from schemas.equivalence import AlignedPhrases

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


class EquivalenceReply(Reply):
    """The answer if two sentences mean, or two phrases could mean, the same."""

    explanation: Text
    answer: Literal["yes", "no"]


class ParaphraseReply(Reply):
    """A sentence in other words."""

    paraphrase: Annotated[Text, Field(min_length=1)]


class EquivalencePrompts(PromptSet):
    """Questions about sentences and phrases; `under` is the prompt of the application that a subject works for."""

    package = "checkers.equivalence.prompts"

    def __init__(self) -> None:
        super().__init__()
        self.versions["same_phrase"] = QUESTIONS.versions["same_phrase"]

    def equivalent(self, first: str, second: str, under: str | None = None) -> Question[EquivalenceReply]:
        """The question if two sentences mean the same."""
        texts, task = {"first": first, "second": second}, "equivalence.equivalent"
        return self._question("equivalent", task, EquivalenceReply, texts, under=under, max_tokens=_ANSWER_TOKENS)

    def phrase(self, first: str, second: str, under: str | None = None) -> Question[YesNo]:
        """The question if two phrases could mean the same, to be answered by a word.

        With an explanation before it, as the paper's prompt 6 has one behind it, small models find a fault in most.
        """
        return QUESTIONS.about("equivalence.phrase", Claims(first, (second,), ClaimKind.PHRASE), second, under)

    def paraphrase(self, sentence: str, manner: str, under: str | None = None) -> Question[ParaphraseReply]:
        """A sentence in other words, found in this manner: not too long, not empty, and not the sentence itself."""

        def complaint(reply: ParaphraseReply) -> str | None:
            words, length = words_of(reply.paraphrase), len(reply.paraphrase)
            if not words:
                return "the paraphrase holds no word"
            if length > MOST_CHARACTERS:
                return f"the paraphrase has {length} characters; allowed are {MOST_CHARACTERS}"
            return "the paraphrase is the sentence itself" if words == words_of(sentence) else None

        name, most = "paraphrase", _PARAPHRASE_TOKENS + len(sentence)
        task, texts, words = f"equivalence.{name}", {"sentence": sentence}, {"manner": manner}
        return self._question(
            name, task, ParaphraseReply, texts, words, under=under, complaint=complaint, max_tokens=most
        )


def words_of(text: str) -> str:
    """A text without letter case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())


async def graded(judge: Judge, sentences: tuple[str, str], pairs: Sequence[AlignedPhrases]) -> list[EquivalenceReply]:
    """Whether the phrases of each pair mean the same, by a judge, shown the `sentences` that they stand in."""
    claims = [Claims(pair.first, (pair.second,), ClaimKind.PHRASE, around=sentences) for pair in pairs]
    grades = (await judge.grade("equivalence.phrase", claims)).reply if claims else ()
    return [
        EquivalenceReply(explanation=grade.reason, answer="yes" if grade.supported else "no") for (grade,) in grades
    ]


class Subject:
    """The model that is tested, asked on behalf of one check under the prompt of the application that it works for.

    All methods raise Undecidable if it gave no usable answer, and ModelUnavailable.
    """

    def __init__(self, model: Model, prompts: EquivalencePrompts, application: str | None) -> None:
        self._model = model
        self._prompts = prompts
        self._under = application

    async def phrases(self, pairs: Sequence[AlignedPhrases]) -> list[EquivalenceReply]:
        """Ask if the phrases of each pair could mean the same; it is not shown their sentences."""
        return await gather_or_cancel(map(self._phrase, pairs))

    async def _phrase(self, pair: AlignedPhrases) -> EquivalenceReply:
        with self._at_fault():
            answer = await self._model.ask(self._prompts.phrase(pair.first, pair.second, self._under))
        told = "" if answer.probabilities is None else f"yes with a probability of {answer.probabilities[0]:.2f}"
        return EquivalenceReply(explanation=told, answer="yes" if odds_of(answer) >= 0 else "no")

    async def paraphrases(self, sentence: str) -> list[str]:
        """The sentence in other words, `PARAPHRASES` times at most: what cannot be used or comes again is left out."""
        questions = [self._prompts.paraphrase(sentence, manner, self._under) for manner in MANNERS]
        with self._at_fault():
            found = await gather_or_cancel(sample(self._model, question, 1) for question in questions)
        kept: dict[str, str] = {}
        for (one,) in found:
            if one is not None:
                kept.setdefault(words_of(one.paraphrase), one.paraphrase)
        return list(kept.values())

    async def equivalent(self, first: str, second: str) -> EquivalenceReply:
        """Ask if two sentences mean the same."""
        with self._at_fault():
            return (await self._model.ask(self._prompts.equivalent(first, second, self._under))).reply

    @contextmanager
    def _at_fault(self) -> Iterator[None]:
        try:
            yield
        except ModelFailed as error:
            raise Undecidable(error.cause_of_subject, f"{self._model.name}: {error.detail}") from error


def form_cases(method: str) -> Iterator[FormCase]:
    """Built-in cases: sentences, phrases and paraphrases."""
    prompts, first = EquivalencePrompts(), "The keeper shut the north door at nine."
    same, other = "At nine the north door was shut by the keeper.", "The keeper opened the north door at nine."
    yield FormCase(method, "subject", prompts.equivalent(first, same), lambda reply: reply.answer == "yes")
    yield FormCase(method, "subject", prompts.equivalent(first, other), lambda reply: reply.answer == "no")
    yield FormCase(method, "subject", prompts.phrase("at noon", "at twelve o'clock"), lambda reply: reply.yes)
    yield FormCase(method, "subject", prompts.phrase("the left bank", "the right bank"), lambda reply: not reply.yes)
    for manner in ("Begin with another word.", "Say it as simply as you can."):
        yield FormCase(method, "subject", prompts.paraphrase(first, manner), lambda reply: "door" in reply.paraphrase)
