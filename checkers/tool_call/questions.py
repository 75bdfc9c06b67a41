"""What a judge is asked about a call, as claims: its values, what was said of a choice, and how a failure is told."""

from collections.abc import Sequence

from checkers.tool_call.arguments import Argument
from models.claims import ClaimKind, Claims
from models.wording import on_a_line
from schemas import Tool


def values_claims(sources: str, name: str, tool: Tool | None, arguments: Sequence[Argument]) -> Claims:
    """A claim for each value: that it is the right one by what was said."""
    does = f" ({on_a_line(tool.description)})" if tool is not None and tool.description else ""
    question = f"With which values does the user want {on_a_line(name)}{does} to be called?"
    claims = tuple(f"{_named(one)}: {one.text}" for one in arguments)
    return Claims(sources, claims, ClaimKind.ANSWER, question, text="\n".join(claims))


def choice_question(sources: str, name: str, argument: Argument) -> Claims:
    """Whether what was said decides the value at all."""
    question = f"Which value does the user want for {_named(argument)} of {on_a_line(name)}?"
    return Claims(sources, (question,), ClaimKind.ANSWERABILITY)


def carried_out(response: str) -> Claims:
    """Whether a response tells a failure, and whether it tells a success."""
    told = ("What the user asked for could not be done.", "What the user asked for was done.")
    return Claims(response, told, ClaimKind.ENTAILMENT)


def _named(argument: Argument) -> str:
    return f"{argument.name} ({argument.description})" if argument.description else argument.name
