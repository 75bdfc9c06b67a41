"""A judge that grades, by whatever a test says."""

from collections.abc import Callable, Sequence

from models.meter import MeteredJudge
from models.protocol import Answer, Claims, Grades, Judgement
from schemas import Usage

Support = Callable[[str, str], float | Judgement]


class ScriptedGrader:
    """Grades each sentence by a function of the reference and it; notes what it was given."""

    version = ""
    self_test = None

    def __init__(self, support: Support, *hindrances: Exception, name: str = "grading") -> None:
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
        found = self._support(reference, sentence)
        return found if isinstance(found, Judgement) else Judgement(float(found), "compared", None)


def grading(support: Support) -> MeteredJudge:
    """The same as a checker's judge."""
    return MeteredJudge(ScriptedGrader(support), cached=False)
