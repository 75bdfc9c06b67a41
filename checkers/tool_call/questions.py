"""What a judge is asked about a call, as claims: its values, what was said of a choice, and how a failure is told."""

from collections.abc import Sequence

from checkers.tool_call.arguments import Argument
from models.claims import ClaimKind, Claims
from models.wording import on_a_line
from schemas import ToolCall


def sources_of(record: ToolCall) -> str:
    """What was said before the call; empty if the record does not tell it."""
    prompt = f"The user says: {record.prompt}" if (record.prompt or "").strip() else ""
    return "\n\n".join(text for text in (prompt, *record.contexts) if text.strip())


def values_claims(sources: str, arguments: Sequence[Argument]) -> Claims:
    """A claim for each value: that it follows from what was said."""
    return Claims(sources, tuple(f"{_begun(_named(one))}: {one.text}" for one in arguments), ClaimKind.ENTAILMENT)


def choice_question(sources: str, name: str, argument: Argument) -> Claims:
    """Whether what was said decides the value at all."""
    question = f"Which {_named(argument)} does the user want for {on_a_line(name)}?"
    return Claims(sources, (question,), ClaimKind.ANSWERABILITY)


def carried_out(response: str) -> Claims:
    """Whether a response tells a failure, and whether it tells a success."""
    told = ("What the user asked for could not be done.", "What the user asked for was done.")
    return Claims(response, told, ClaimKind.ENTAILMENT)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _named(argument: Argument) -> str:
    """Names as people write them, which judges know better."""
    name = argument.name.replace("_", " ")
    return f"{name} ({argument.description})" if argument.description else name
