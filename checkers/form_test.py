"""Whether a model can follow the forms in which methods ask it, as subject and as writer: built-in cases, asked once.

A reply that is not of the form says nothing of a model's trust, so this is known before anything is said of that. Kept
in a file by model and cases.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, get_args

from pydantic import BaseModel

from models.protocol import OF_ONE_REPLY, Model, ModelFailed, Question
from models.wording import on_a_line

Role = Literal["subject", "writer"]
_CHAT = ("openai/", "llama/")


@dataclass(frozen=True, slots=True)
class FormCase:
    """A question that a method asks, with a right reply that a person knows at once."""

    method: str
    """The checker's name."""
    role: Role
    question: Question[Any]
    is_right: Callable[[Any], bool]


class MethodResult(BaseModel):
    """What became of the cases of a method in one role."""

    method: str
    role: Role
    cases: int
    """Questions that got a reply."""
    followed: int
    """Replies of the form that is asked for."""
    right: int
    answered: str | None = None
    """What is wrong with the first reply that is not of the form, and the reply."""

    @property
    def is_followed(self) -> bool:
        """True if more than half of the replies are of the form."""
        return self.followed > self.cases / 2

    @property
    def verdict(self) -> str:
        """What the method is worth with this model, in a word or two."""
        if not self.is_followed:
            return "cannot follow the form"
        seldom = ", and is right on half at most" if self.right <= self.followed / 2 else ""
        return f"follows the form{seldom}"


async def method_results(
    model: Model, cases: Iterable[FormCase], roles: Sequence[Role] = get_args(Role)
) -> list[MethodResult]:
    """The results of each method and role, on file or asked now; none of what is no chat model."""
    # Commands that ask nothing are there at once: what logs takes long to import.
    from models.judges.self_test import KeptTest
    from models.meter import request_digest

    found: list[MethodResult] = []
    # Services read no prompts, and recordings know no further questions.
    asked = [one for one in cases if one.role in roles and model.name.startswith(_CHAT)]
    for (method, role), group in groupby(asked, lambda one: (one.method, one.role)):
        some = list(group)
        file = KeptTest([model.name, *(request_digest(one.question) for one in some)], list[MethodResult])
        if results := file.read():
            found += results
            continue
        faults, answered = list[str](), list[bool]()
        for case in some:
            try:
                answered.append(case.is_right((await model.ask(case.question)).reply))
            except ModelFailed as error:
                if error.cause in OF_ONE_REPLY:
                    faults.append(f"{on_a_line(error.detail)}; it said: {on_a_line(error.said) or 'nothing'}")
        replies, followed = len(answered) + len(faults), len(answered)
        fields = {"method": method, "role": role, "cases": replies, "followed": followed, "right": sum(answered)}
        result = MethodResult.model_validate(fields | {"answered": faults[0] if faults else None})
        # A slow endpoint says nothing of its model.
        found += [result] if replies else []
        if replies == len(some):
            file.write([result])
    return found
