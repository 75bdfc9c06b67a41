"""Whether the ends of long texts count: a judge by name whose network supports what its text says word for word."""

import random
import tempfile
from pathlib import Path

from models.claims import Claims
from models.grounding.judge import GroundingJudge
from models.local.settings import LocalSettings
from models.protocol import OracleFailed
from tests.support.grounding import believing_judge, says, worded_tokenizer
from tests.support.long_texts import VOCABULARY, MakeEnd, error_at_the_end, support_at_the_end

TRIALS = 200
BOUND = 0.95

_ENDS: dict[str, MakeEnd] = {
    "a claim whose support stands at the end of 50 KB": support_at_the_end,
    "the last sentence of a response of 31": error_at_the_end,
}


def run() -> bool:
    """Print how often a claim is judged at the end of a long text as in a short one; False if too seldom."""
    chance = random.Random(14)
    enough = True
    with tempfile.TemporaryDirectory() as folder:
        named, _ = believing_judge(Path(folder), worded_tokenizer(VOCABULARY), says)
        judge = GroundingJudge(named, LocalSettings(), say=print)
        judge.load()
        for what, end in _ENDS.items():
            same = right = 0
            for number in range(TRIALS):
                is_good = number % 2 == 0
                short, long = end(chance, is_good=is_good)
                alone, last = _last(judge, short), _last(judge, long)
                same += alone == last
                right += last == is_good
            print(f"{what}: judged as when short {same} of {TRIALS} times, and rightly {right} times")
            enough = enough and same >= BOUND * TRIALS
    return enough


def _last(judge: GroundingJudge, claims: Claims) -> bool:
    (graded,) = judge.judge([claims])
    if isinstance(graded, OracleFailed):
        raise graded
    return graded[-1].supported
