"""Rubrics made in tests, and a judge whose answers are known."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from pydantic import JsonValue

from checkers.labelling.rubric import Rubric, parse_rubric


def rubric_of(*conditions: Any, **others: Any) -> Rubric:
    """A rubric whose criteria c0, c1, ... have these conditions, read from its JSON."""
    criteria = [{f"c{number}": condition} for number, condition in enumerate(conditions)]
    return parse_rubric(json.dumps({"rubric": "r", "criteria": criteria, "label": "majority", **others}), shown="r")


class KnownJudge:
    """Answers by a function, and counts what it was asked."""

    def __init__(self, answer: Callable[[str, JsonValue], bool] = lambda question, x: True) -> None:
        self._answer = answer
        self.asked: Counter[tuple[str, str]] = Counter()

    async def bit(self, criterion: str, x: JsonValue) -> bool:
        self.asked[criterion, json.dumps(x)] += 1
        return self._answer(criterion, x)
