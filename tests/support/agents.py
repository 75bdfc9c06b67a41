"""The agents that a worker process may run, by what its command line calls them."""

from typing import Any

from agents.checker_agent import checker_agent
from agents.improver_agent import improver_agent
from agents.runtime import AgentFactory
from tests.support.checkers import CHECKERS
from tests.support.writer import improver


def agent_of(*, type: str, **more: Any) -> AgentFactory:  # noqa: A002 - as specifications have it
    """The agent of a checker of `tests.support.checkers`, or the improver; `more` goes to its constructor."""
    if type == "improver":
        return improver_agent(improver(**more))
    return checker_agent(CHECKERS[type](**more))
