"""The questions that a chat model is asked as judge; each prompt's file says where its form comes from."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict

from models.claims import Claims
from models.prompts import Placeholders, PromptSet, as_list, behind, quoted
from models.protocol import Question, YesNo
from models.replies import salvaging

WORD_TOKENS = 4
"""Room for a yes or a no with some characters around it."""
_REASON_TOKENS = 80
_TOKENS_A_VERDICT = 14
_TOKENS_A_REASON = 60

UNKNOWN_QUESTION = "Sum up the passages."
"""Stands for the user's question where none is known, in the worked examples too."""
_ANSWER = "Is this a right answer by the passages? Reply yes or no."
_CLAIM = "Do the passages support everything that the claim says? Reply yes or no."
_SENTENCE_OF_CLAIM = (
    "Sentence of the claim:\n{}\nDo the passages support everything that the sentence says? Reply yes or no."
)
_SENTENCE = "Sentence of the answer:\n{}\nIs the sentence right by the passages? Reply yes or no."


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Verdict(_Reply):
    """Whether one numbered sentence is supported."""

    number: int
    supported: bool


class ReasonedVerdict(_Reply):
    """The same with the reason before it, as the paper asks (appendix A.2)."""

    number: int
    reason: str
    supported: bool


class Verdicts(_Reply):
    """The list form's reply."""

    verdicts: list[Verdict]


class ReasonedVerdicts(_Reply):
    """The paper's reply, and that of AMC about its reasons."""

    verdicts: list[ReasonedVerdict]


class Reason(_Reply):
    """What is wrong with a sentence."""

    reason: str


_ListT = TypeVar("_ListT", Verdicts, ReasonedVerdicts)


class JudgeQuestions(PromptSet):
    """All that a judge is asked. Untrusted texts are quoted, line by line."""

    package = "models.judges.prompts"
    placeholders: ClassVar = {
        "supported": Placeholders(("passages", "question", "answer"), ("asked",)),
        "supported_claim": Placeholders(("passages", "claim"), ("asked",)),
        "supported_list": Placeholders(("passages", "question", "sentences")),
        "supported_paper": Placeholders(("passages", "question", "sentences")),
        "convert": Placeholders(("reasons",)),
        "informs": Placeholders(("question", "answer")),
        "answerable": Placeholders(("passages", "question")),
        "entails": Placeholders(("first", "second")),
        "same_phrase": Placeholders(("first", "second", "first_sentence", "second_sentence")),
        "criterion": Placeholders(("text", "criterion")),
        "compatible": Placeholders(("earlier", "question", "sentence")),
        "own_question": Placeholders(("answer",), ("before", "asked")),
        "true_statement": Placeholders(("statement",)),
        "reason": Placeholders(("passages", "sentence")),
    }

    def supported(
        self, task: str, passages: str, question: str | None, answer: str, sentence: str | None = None
    ) -> Question[YesNo]:
        """Whether passages support an answer, or one sentence of it. All of them begin alike for the same passages."""
        if question is None:
            asked = _CLAIM if sentence is None else _SENTENCE_OF_CLAIM.format(quoted(sentence))
            return self.word("supported_claim", task, asked=asked, passages=passages, claim=answer)
        asked = _ANSWER if sentence is None else _SENTENCE.format(quoted(sentence))
        return self.word("supported", task, asked=asked, passages=passages, question=question, answer=answer)

    def word(self, name: str, task: str, *, asked: str | None = None, **texts: str) -> Question[YesNo]:
        """The question of this name, to be answered by yes or no; `asked` are words of ours in it."""
        plain = {} if asked is None else {"asked": asked}
        return self._question(name, task, YesNo, texts, plain, written=1, max_tokens=WORD_TOKENS)

    def own_question(self, task: str, claims: Claims, asked: str) -> Question[YesNo]:
        """A question in a user's own words about a whole text, behind the claims' worked examples."""

        def turn(about: Claims) -> Question[YesNo]:
            own, texts = {"asked": asked, "before": before_answer(about)}, {"answer": about.whole}
            return self._question("own_question", task, YesNo, texts, own, written=1, max_tokens=WORD_TOKENS)

        return behind(turn(claims), ((turn(one), "yes" if yes else "no") for one, yes in claims.examples))

    def listed(
        self, task: str, passages: str, question: str | None, sentences: Mapping[int, str]
    ) -> Question[Verdicts]:
        """A verdict for each numbered sentence."""
        texts, written = _list(passages, question, sentences), _TOKENS_A_VERDICT * len(sentences)
        return self._verdicts("supported_list", task, Verdicts, texts, sentences, written=written)

    def reasoned(
        self, task: str, passages: str, question: str | None, sentences: Mapping[int, str]
    ) -> Question[ReasonedVerdicts]:
        """A reason and a verdict for each numbered sentence: DCE (paper, section 3.1)."""
        texts, written = _list(passages, question, sentences), _TOKENS_A_REASON * len(sentences)
        return self._verdicts("supported_paper", task, ReasonedVerdicts, texts, sentences, written=written)

    def conversion(self, task: str, reasons: Mapping[int, str]) -> Question[ReasonedVerdicts]:
        """For each numbered reason whether its sentence is supported by it: AMC (paper, section 3.2)."""
        listed = as_list([{"number": number, "reason": reason} for number, reason in reasons.items()])
        written = _TOKENS_A_REASON * len(reasons)
        return self._verdicts("convert", task, ReasonedVerdicts, {"reasons": listed}, reasons, written=written)

    def reason(self, task: str, passages: str, sentence: str) -> Question[Reason]:
        """What is wrong with a sentence that was found not to be supported."""
        texts = {"passages": passages, "sentence": sentence}
        return self._question("reason", task, Reason, texts, written=25, max_tokens=_REASON_TOKENS)

    def _verdicts(
        self,
        name: str,
        task: str,
        reply: type[_ListT],
        texts: dict[str, str],
        asked: Mapping[int, str],
        *,
        written: int,
    ) -> Question[_ListT]:
        def complaint(reply: _ListT) -> str | None:
            """A reply is refused only if nothing of it can be used: else only what it lacks is asked again."""
            if any(one.number in asked for one in reply.verdicts):
                return None
            return f"'verdicts' has none with a number of the list: {', '.join(map(str, asked))}"

        salvage = salvaging(reply, "verdicts")
        return self._question(
            name, task, reply, texts, complaint=complaint, graded="supported", salvage=salvage, written=written
        )


def before_answer(claims: Claims) -> str:
    """Passages and the user's question as far as there are any, quoted, to stand before an answer."""
    parts = {"Passages": claims.reference, "Question": claims.prompt or ""}
    return "".join(f"{name}:\n{quoted(text)}\n\n" for name, text in parts.items() if text.strip())


def _list(passages: str, question: str | None, sentences: Mapping[int, str]) -> dict[str, str]:
    # A sentence with a line break cannot begin the next one's number.
    lines = [f"{number}. {' '.join(text.split())}" for number, text in sentences.items()]
    return {"passages": passages, "question": question or UNKNOWN_QUESTION, "sentences": "\n".join(lines)}
