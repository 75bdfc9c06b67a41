"""Asking on behalf of one check: what every question cost is added up, answered or not."""

from dataclasses import dataclass, field

from checkers.oracle.protocol import Answer, Oracle, OracleError, Question, ReplyT
from schemas import Usage


@dataclass(slots=True)
class Ledger:
    """An oracle and the running bill of one check; questions may be asked concurrently."""

    oracle: Oracle
    usage: Usage = field(default_factory=Usage)

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """Ask, and book what it cost. Raises what the oracle raises."""
        try:
            answer = await self.oracle.ask(question)
        except OracleError as error:
            self.usage += error.usage
            raise
        self.usage += answer.usage
        return answer
