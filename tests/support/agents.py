"""The agents that a worker process may run, by what its command line calls them."""

from typing import Any

from agents.checking import checking
from agents.improver_agent import improving
from agents.runtime import AgentFactory
from tests.support.checkers import CHECKERS
from tests.support.writer import improver


def agent_of(*, type: str, **more: Any) -> AgentFactory:  # noqa: A002 - as specifications have it
    """The agent of a checker of `tests.support.checkers`, or the improver; `more` goes to its constructor."""
    if type == "improver":
        return improving(improver(**more))
    return checking(CHECKERS[type](**more))
