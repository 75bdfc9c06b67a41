"""The questions that a chat model is asked as judge; each prompt's file says where its form comes from."""

from collections.abc import Mapping
from typing import TypeVar

from models.claims import ClaimKind, Claims
from models.prompts import PromptSet, behind, quoted
from models.protocol import Question, Reply, YesNo

WORD_TOKENS = 4
"""Room for a yes or a no with some characters around it."""
_REASON_TOKENS = 80

UNKNOWN_QUESTION = "Sum up the passages."
"""Stands for the user's question where none is known, in the worked examples too."""
_ANSWER = "Is this a right answer by the passages? Reply yes or no."
_CLAIM = "Do the passages support everything that the claim says? Reply yes or no."
_SENTENCE_OF_CLAIM = (
    "Sentence of the claim:\n{}\nDo the passages support everything that the sentence says? Reply yes or no."
)
_SENTENCE = "Sentence of the answer:\n{}\nIs the sentence right by the passages? Reply yes or no."


class Verdict(Reply):
    """Whether one numbered sentence is supported."""

    number: int
    supported: bool


class ReasonedVerdict(Reply):
    """The same with the reason before it, as the paper asks (appendix A.2)."""

    number: int
    reason: str
    supported: bool


class Verdicts(Reply):
    """The list form's reply."""

    verdicts: list[Verdict]


class ReasonedVerdicts(Reply):
    """The paper's reply, and that of AMC about its reasons."""

    verdicts: list[ReasonedVerdict]


class Reason(Reply):
    """What is wrong with a sentence."""

    reason: str


ListT = TypeVar("ListT", Verdicts, ReasonedVerdicts)


class JudgeQuestions(PromptSet):
    """All that a judge is asked. Untrusted texts are quoted, line by line."""

    package = "models.judges.prompts"

    def supported(self, task: str, claims: Claims, answer: str, sentence: str | None = None) -> Question[YesNo]:
        """Whether the passages support an answer, or one sentence of it; all begin alike for the same passages."""
        if claims.prompt is None:
            asked = _CLAIM if sentence is None else _SENTENCE_OF_CLAIM.format(quoted(sentence))
            return self.word("supported_claim", task, {"passages": claims.reference, "claim": answer}, {"asked": asked})
        asked = _ANSWER if sentence is None else _SENTENCE.format(quoted(sentence))
        texts = {"passages": claims.reference, "question": claims.prompt, "answer": answer}
        return self.word("supported", task, texts, {"asked": asked})

    def about(self, task: str, claims: Claims, sentence: str, under: str | None = None) -> Question[YesNo]:
        """A plain question about the reference and a sentence, of a kind that is no response's.

        `under` is the prompt of the application that a subject is asked for.
        """
        if claims.kind is ClaimKind.QUESTION:
            # In a user's own words, about the whole text, behind the claims' worked examples.
            def own(one: Claims) -> Question[YesNo]:
                words = {"asked": sentence, "before": before_answer(one)}
                return self.word("own_question", task, {"answer": one.whole}, words)

            return behind(own(claims), [(own(example), "yes" if yes else "no") for example, yes in claims.examples])
        text, question = claims.reference, claims.prompt or UNKNOWN_QUESTION
        first, second = claims.around or (text, sentence)
        around = {"first_sentence": first, "second_sentence": second}
        name, texts = {
            ClaimKind.STATEMENT: ("true_statement", {"statement": sentence}),
            ClaimKind.ANSWERABILITY: ("answerable", {"passages": text, "question": sentence}),
            ClaimKind.CRITERION: ("criterion", {"text": text, "criterion": sentence}),
            ClaimKind.COMPATIBLE: ("compatible", {"earlier": text, "question": question, "sentence": sentence}),
            ClaimKind.PHRASE: ("same_phrase", {"first": text, "second": sentence, **around}),
        }.get(claims.kind, ("entails", {"first": text, "second": sentence}))
        return self.word(name, task, texts, under=under)

    def word(
        self,
        name: str,
        task: str,
        texts: Mapping[str, str],
        words: Mapping[str, str] | None = None,
        *,
        under: str | None = None,
    ) -> Question[YesNo]:
        """The question of this name, to be answered by yes or no; `words` are ours."""
        return self._question(name, task, YesNo, texts, words, under=under, written=1, max_tokens=WORD_TOKENS)

    def verdicts(
        self, name: str, task: str, reply: type[ListT], texts: Mapping[str, str], asked: Mapping[int, str]
    ) -> Question[ListT]:
        """The question of this name, to be answered by a verdict for each number of `asked`."""

        def complaint(reply: ListT) -> str | None:
            """A reply is refused only if nothing of it can be used: else only what it lacks is asked again."""
            if any(one.number in asked for one in reply.verdicts):
                return None
            return f"'verdicts' has none with a number of the list: {', '.join(map(str, asked))}"

        graded, tokens = ("supported", 14) if reply is Verdicts else (None, 60)
        written = tokens * len(asked)
        return self._question(
            name,
            task,
            reply,
            texts,
            complaint=complaint,
            graded=graded,
            salvage="verdicts",
            written=written,
            max_tokens=_REASON_TOKENS + 2 * written,
        )

    def reason(self, task: str, passages: str, sentence: str) -> Question[Reason]:
        """What is wrong with a sentence that was found not to be supported."""
        texts = {"passages": passages, "sentence": sentence}
        return self._question("reason", task, Reason, texts, written=25, max_tokens=_REASON_TOKENS)


QUESTIONS = JudgeQuestions()


def before_answer(claims: Claims) -> str:
    """Passages and the user's question as far as there are any, quoted, to stand before an answer."""
    parts = {"Passages": claims.reference, "Question": claims.prompt or ""}
    return "".join(f"{name}:\n{quoted(text)}\n\n" for name, text in parts.items() if text.strip())


def numbered(claims: Claims, sentences: Mapping[int, str]) -> dict[str, str]:
    """The texts of a question about numbered sentences."""
    # A sentence with a line break cannot begin the next one's number.
    lines = "\n".join(f"{number}. {' '.join(text.split())}" for number, text in sentences.items())
    return {"passages": claims.reference, "question": claims.prompt or UNKNOWN_QUESTION, "sentences": lines}
