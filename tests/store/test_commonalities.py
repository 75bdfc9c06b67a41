"""What rejects have in common: nothing where nothing is different, and what is different with nothing next to it."""

import math
import random
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from schemas import Attribute
from store.commonalities import ERROR, commonalities, significant

SIMULATED = 250
RELEASE = Attribute("metadata.release", "4.2")


def _traffic(
    rng: random.Random, number: int, rejected: Callable[[frozenset[Attribute]], float]
) -> tuple[list[frozenset[Attribute]], list[frozenset[Attribute]]]:
    """Rejects and accepts of a bot: a release in the last third, its hours, tenants of all sizes, many documents."""
    rejects, accepts = list[frozenset[Attribute]](), list[frozenset[Attribute]]()
    documents = rng.choice([3, 30, 300])
    for place in range(number):
        having = {
            Attribute("metadata.release", "4.1" if place < number * 2 / 3 else "4.2"),
            Attribute("hour", f"2026-11-27T{6 + 9 * place // number:02}"),
            Attribute("tenant", f"tenant-{int(rng.expovariate(0.3))}"),
            Attribute("judge", "judge-large"),
            *(Attribute("document", f"{int(rng.expovariate(1 / documents))}.pdf") for _ in range(3)),
        }
        seen = frozenset(having)
        (rejects if rng.random() < rejected(seen) else accepts).append(seen)
    return rejects, accepts


def test_where_nothing_is_different_nothing_is_named():
    rng = random.Random(20)
    named = 0
    for _ in range(SIMULATED):
        rate = rng.choice([0.02, 0.1, 0.3, 0.7])
        named += bool(commonalities(*_traffic(rng, rng.choice([60, 200, 500]), lambda _, rate=rate: rate)))
    # Four standard errors above what is promised, and far below one in twenty.
    assert named / SIMULATED <= ERROR + 4 * math.sqrt(ERROR / SIMULATED) < 0.05


def test_a_release_is_named_with_nothing_next_to_it():
    rng = random.Random(21)
    others = 0
    for _ in range(100):
        found = commonalities(*_traffic(rng, 300, lambda seen: 0.7 if RELEASE in seen else 0.08))
        assert (found[0].name, found[0].value) == RELEASE
        assert found[0].rejects_with / found[0].rejects > 0.6
        others += len(found) > 1
    assert others / 100 <= 0.05


def test_two_causes_are_two():
    tariff = Attribute("document", "tariff.pdf")

    def rate(seen: frozenset[Attribute]) -> float:
        return 0.9 if tariff in seen else 0.6 if Attribute("tenant", "tenant-0") in seen else 0.05

    rng = random.Random(22)
    rejects, accepts = _traffic(rng, 600, lambda _: 0.0)
    cited = [one | {tariff} if rng.random() < 0.15 else one for one in rejects + accepts]
    of = {True: [], False: []}
    for one in cited:
        of[rng.random() < rate(one)].append(one)
    found = commonalities(of[True], of[False])
    assert {(one.name, one.value) for one in found} == {tariff, ("tenant", "tenant-0")}
    one = next(each for each in found if each.name == "document")
    rejects, accepts = len(of[True]), len(of[False])
    assert (
        one.line
        == f"{one.rejects_with} of {rejects} rejects cite tariff.pdf; {one.accepts_with} of {accepts} accepts do"
    )


def test_of_what_is_always_together_that_is_named_which_says_most():
    both = frozenset({RELEASE, Attribute("hour", "2026-11-27T09"), Attribute("config_digest", "b")})
    before = frozenset({Attribute("metadata.release", "4.1"), Attribute("config_digest", "a")})
    (found,) = commonalities([both] * 20 + [before] * 3, [before] * 80 + [both] * 2)
    assert (found.name, found.value) == RELEASE
    assert (found.rejects_with, found.rejects, found.accepts_with, found.accepts) == (20, 23, 2, 82)


_COUNTS = st.integers(0, 60)


@given(_COUNTS, _COUNTS, _COUNTS, _COUNTS)
def test_a_single_attribute_is_named_where_fishers_exact_test_is_significant(with_it, without, accepts_with, accepts):
    one = frozenset({RELEASE})
    found = significant([one] * with_it + [frozenset()] * without, [one] * accepts_with + [frozenset()] * accepts)
    p = fisher_exact([[with_it, accepts_with], [without, accepts]], alternative="greater")[1]
    if not math.isclose(p, ERROR, rel_tol=1e-6):
        assert (RELEASE in found) == (p <= ERROR and with_it >= 5)
        assert all(math.isclose(each, math.log(p), abs_tol=1e-6) for each in found.values())
