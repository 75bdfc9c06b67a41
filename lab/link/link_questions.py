"""The questions of LINK: values for a gap, which statements are true, what is wrong with a rule, narrower types."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from models.prompts import Placeholders, PromptSet, as_list
from models.protocol import Question
from models.replies import salvaging


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NumberedValue(_Form):
    number: int
    value: str


class ValuesReply(_Form):
    """Things that fit a gap."""

    values: list[NumberedValue]


class Holding(_Form):
    number: int
    """The statement's, from 1."""
    holds: bool


class CriticReply(_Form):
    """Tells of each statement if it is true."""

    entries: list[Holding]


class VettingReply(_Form):
    """The faults of a rule."""

    reason: str
    paraphrase: bool
    unknowable: list[int]
    """Numbers of premise predicates, from 1."""


class TypesReply(_Form):
    """Narrower data types."""

    types: list[str]


class Reworded(_Form):
    number: int
    verb: str
    sentence: str
    """With variables in braces."""


class VerbsReply(_Form):
    """The statements of a rule for a narrower type."""

    statements: list[Reworded]
    negation: str
    """The opposite of the last statement."""
    question: str


class LinkPrompts(PromptSet):
    """Makes each question from its template."""

    package = "lab.link.prompts"
    placeholders: ClassVar = {
        "values": Placeholders(("sentences", "named"), ("count", "type", "call")),
        "critic": Placeholders(("statements",)),
        "vet": Placeholders(("statements", "conclusion"), ("subject",)),
        "types": Placeholders(("statements",), ("count", "type", "variable")),
        "verbs": Placeholders(("statements",), ("type", "variable")),
    }

    def values(
        self, sentences: Sequence[str], data_type: str, *, count: int, call: int, named: Sequence[str]
    ) -> Question[ValuesReply]:
        """Ask for `count` values of a data type with which all `sentences` are true, and none of `named`.

        `call` counts the calls for one gap from 1, so that no two of them are the same question.
        """
        return self._question(
            "values",
            "longtail.values",
            ValuesReply,
            {"sentences": as_list(sentences), "named": as_list(named)},
            {"count": str(count), "type": data_type, "call": str(call)},
            salvage=salvaging(ValuesReply, "values"),
        )

    def critic(self, statements: Sequence[str]) -> Question[CriticReply]:
        """Ask of each statement if it is true, with the probability of that."""

        def complaint(reply: CriticReply) -> str | None:
            return _complaint("entries", [one.number for one in reply.entries], len(statements))

        fenced = {"statements": _numbered(statements)}
        return self._question("critic", "longtail.critic", CriticReply, fenced, complaint=complaint, graded="holds")

    def vet(self, given: Sequence[str], conclusion: str, *, subject: str) -> Question[VettingReply]:
        """Ask if the conclusion paraphrases one of the given statements, and which of them nobody can know."""
        fenced = {"statements": _numbered(given), "conclusion": conclusion}
        return self._question("vet", "longtail.vet", VettingReply, fenced, {"subject": subject})

    def types(self, statements: Sequence[str], data_type: str, variable: str, *, count: int) -> Question[TypesReply]:
        """Ask for narrower types of the variable for which a rule holds."""
        plain = {"count": str(count), "type": data_type, "variable": variable}
        return self._question("types", "longtail.types", TypesReply, {"statements": as_list(statements)}, plain)

    def verbs(self, statements: Sequence[str], data_type: str, variable: str) -> Question[VerbsReply]:
        """Ask for words that fit the type, statement by statement."""

        def complaint(reply: VerbsReply) -> str | None:
            return _complaint("statements", [one.number for one in reply.statements], len(statements))

        fenced = {"statements": _numbered(statements)}
        plain = {"type": data_type, "variable": variable}
        return self._question("verbs", "longtail.verbs", VerbsReply, fenced, plain, complaint=complaint)


def _numbered(statements: Sequence[str]) -> str:
    return as_list([{"number": number, "statement": one} for number, one in enumerate(statements, start=1)])


def _complaint(field: str, numbers: Sequence[int], statements: int) -> str | None:
    if list(numbers) == list(range(1, statements + 1)):
        return None
    return f"'{field}' must have one entry for each of the {statements} statements, in their order"
