"""The questions of a build: values for a gap, which statements are true, and what is wrong with a rule."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from models.prompts import Placeholders, Templates, as_list
from models.protocol import Question
from models.replies import salvaging

_TEMPLATES = Templates(
    "lab.link.prompts",
    {
        "values": Placeholders(("sentences", "named"), ("count", "type")),
        "critic": Placeholders(("statements",)),
        "direct": Placeholders(("sentence",), ("count", "gaps", "manner")),
        "types": Placeholders(("statements",), ("count", "type", "variable")),
        "verbs": Placeholders(("statements",), ("type", "variable")),
        "vet": Placeholders(("statements", "conclusion"), ("subject",)),
    },
)


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
    """Of the statement, from 1."""
    holds: bool


class CriticReply(_Form):
    """For each statement if it is true."""

    entries: list[Holding]


class VettingReply(_Form):
    """What is wrong with a rule."""

    reason: str
    paraphrase: bool
    unknowable: list[int]
    """Numbers of premise predicates, from 1."""


class Filling(_Form):
    number: int
    values: list[str]


class DirectReply(_Form):
    """Values for all gaps at once."""

    entries: list[Filling]


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


def ask_values(
    sentences: Sequence[str], data_type: str, *, count: int, named: Sequence[str], banned: Sequence[int] = ()
) -> Question[ValuesReply]:
    """For `count` values of a data type with which all `sentences` are true.

    `named` are those to be left out; `banned` are tokens with which wrong ones begin.
    """
    template = _TEMPLATES["values"]
    return Question(
        task="longtail.values",
        prompt_version=template.version,
        messages=template.render(
            {"sentences": as_list(sentences), "named": as_list(named)},
            {"count": str(count), "type": data_type},
        ),
        reply=ValuesReply,
        banned_tokens=tuple(banned),
        salvage=salvaging(ValuesReply, "values"),
    )


def ask_critic(statements: Sequence[str]) -> Question[CriticReply]:
    """For each statement if it is true, with the probability of that."""
    template = _TEMPLATES["critic"]

    def complaint(reply: CriticReply) -> str | None:
        return _complaint("entries", [one.number for one in reply.entries], len(statements))

    return Question(
        task="longtail.critic",
        prompt_version=template.version,
        messages=template.render({"statements": _numbered(statements)}),
        reply=CriticReply,
        complaint=complaint,
        graded="holds",
    )


def ask_vetting(given: Sequence[str], conclusion: str, *, subject: str) -> Question[VettingReply]:
    """If the conclusion paraphrases one of the given statements, and which of them nobody can know."""
    template = _TEMPLATES["vet"]
    return Question(
        task="longtail.vet",
        prompt_version=template.version,
        messages=template.render({"statements": _numbered(given), "conclusion": conclusion}, {"subject": subject}),
        reply=VettingReply,
    )


def ask_direct(sentence: str, gaps: Sequence[tuple[str, str]], *, count: int, rare: bool) -> Question[DirectReply]:
    """For `count` fillings of the sentence; `gaps` are each gap's mark and data type."""
    template = _TEMPLATES["direct"]
    manner = "Use things that few people know." if rare else "Use any things that you know."
    listed = "\n".join(f"{mark}: a {data_type}" for mark, data_type in gaps)
    return Question(
        task="longtail.direct",
        prompt_version=template.version,
        messages=template.render({"sentence": sentence}, {"count": str(count), "gaps": listed, "manner": manner}),
        reply=DirectReply,
        salvage=salvaging(DirectReply, "entries"),
    )


def ask_types(statements: Sequence[str], data_type: str, variable: str, *, count: int) -> Question[TypesReply]:
    """For `count` narrower types of the variable for which a rule holds."""
    template = _TEMPLATES["types"]
    return Question(
        task="longtail.types",
        prompt_version=template.version,
        messages=template.render(
            {"statements": as_list(statements)},
            {"count": str(count), "type": data_type, "variable": variable},
        ),
        reply=TypesReply,
    )


def ask_verbs(statements: Sequence[str], data_type: str, variable: str) -> Question[VerbsReply]:
    """For words that fit the type, statement by statement."""
    template = _TEMPLATES["verbs"]

    def complaint(reply: VerbsReply) -> str | None:
        return _complaint("statements", [one.number for one in reply.statements], len(statements))

    return Question(
        task="longtail.verbs",
        prompt_version=template.version,
        messages=template.render({"statements": _numbered(statements)}, {"type": data_type, "variable": variable}),
        reply=VerbsReply,
        complaint=complaint,
    )


def _numbered(statements: Sequence[str]) -> str:
    return as_list([{"number": number, "statement": one} for number, one in enumerate(statements, start=1)])


def _complaint(field: str, numbers: Sequence[int], statements: int) -> str | None:
    if list(numbers) == list(range(1, statements + 1)):
        return None
    return f"'{field}' must have one entry for each of the {statements} statements, in their order"


CRITIC_VERSION = _TEMPLATES["critic"].version
"""Digest of the critic's prompt."""
