"""A judge that grades, by whatever a test says."""

from collections.abc import Callable, Sequence

from models.claims import Claims, Grades, Judgement
from models.meter import MeteredGrader
from models.protocol import Answer
from schemas import Usage


class ScriptedGrader:
    """Grades each sentence by a function of the reference and it; notes what it was given."""

    def __init__(self, support: Callable[[str, str], float], *hindrances: Exception, name: str = "grading") -> None:
        """The first calls raise `hindrances`."""
        self.name = name
        self.graded: list[Claims] = []
        self.hindrances = list(hindrances)
        self._support = support

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        if self.hindrances:
            raise self.hindrances.pop()
        self.graded += claims
        grades = tuple(tuple(self._judgement(one.reference, text) for text in one.sentences) for one in claims)
        return Answer(grades, Usage(calls=1))

    async def close(self) -> None:
        pass

    def _judgement(self, reference: str, sentence: str) -> Judgement:
        return Judgement(float(self._support(reference, sentence)), "compared", None)


def grading(support: Callable[[str, str], float]) -> MeteredGrader:
    """The grader as a judge for a checker."""
    return MeteredGrader(ScriptedGrader(support))
