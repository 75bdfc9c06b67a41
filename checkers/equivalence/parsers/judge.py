"""Trees asked of the judge, and taken only where they are trees over the sentence's own words."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from checkers.concurrent import gather_or_cancel
from checkers.equivalence.parsers.embedded.tokens import cut
from checkers.equivalence.parsers.protocol import Asks
from checkers.equivalence.trees import Tree, TreeFault, escaped, from_brackets
from checkers.oracle.prompts import Placeholders, Templates
from checkers.oracle.protocol import Oracle, Question
from schemas.base import Text


class ParseReply(BaseModel):
    """A sentence as a tree."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tree: Text


class JudgeParser:
    """Asks for bracketed trees; a reply that is none is sent back with what is wrong, once."""

    def __init__(self, judge: Oracle, prompt: Path | None = None) -> None:
        """`prompt` takes the place of the built-in question; raises TemplateError where it cannot be used."""
        self._judge = judge
        known, own = {"parse": Placeholders(("tokens",), ("count",))}, {"parse": prompt} if prompt else None
        self._template = Templates("checkers.equivalence.prompts", known, own)["parse"]

    @property
    def name(self) -> str:
        """With the question's version and the judge's name."""
        return f"judge/{self._template.version}/{self._judge.name}"

    async def parse(self, sentences: Sequence[str], asks: Asks | None = None) -> list[Tree]:
        """See `Parser`."""
        return await gather_or_cancel(self._parse(sentence, asks or self._judge) for sentence in sentences)

    async def close(self) -> None:
        """Nothing to release: the judge is not ours."""

    async def _parse(self, sentence: str, asks: Asks) -> Tree:
        tokens = [token for token, _ in cut(sentence)]
        made: dict[str, Tree] = {}
        answer = await asks.ask(self._question(sentence, tokens, made))
        # A recorded answer is given back without the question's checks.
        return made.get(answer.reply.tree) or _tree(answer.reply, sentence, tokens)

    def _question(self, sentence: str, tokens: Sequence[str], made: dict[str, Tree]) -> Question[ParseReply]:
        """The trees of replies without fault are left in `made`."""
        written = json.dumps([escaped(token) for token in tokens], ensure_ascii=False)

        def complaint(reply: ParseReply) -> str | None:
            try:
                made[reply.tree] = _tree(reply, sentence, tokens)
            except TreeFault as fault:
                return f"'tree' is no tree over the {len(tokens)} tokens: {fault}"
            return None

        return Question(
            task="equivalence.parse",
            prompt_version=self._template.version,
            messages=self._template.render({"tokens": written}, {"count": str(len(tokens))}),
            reply=ParseReply,
            complaint=complaint,
        )


def _tree(reply: ParseReply, sentence: str, tokens: Sequence[str]) -> Tree:
    """The reply's tree.

    Raises:
        TreeFault: it is not one tree over these tokens in this order.
    """
    tree = from_brackets(reply.tree, sentence)
    # Both are all of the sentence: where one has more tokens, they differ before its last.
    for number, (found, wanted) in enumerate(zip(tree.tokens, tokens, strict=False), start=1):
        if found != wanted:
            raise TreeFault(f"token {number} is {found!r} and must be {escaped(wanted)!r}")
    return tree
