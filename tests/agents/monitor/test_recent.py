"""What an alert says of its rejects: in bounded memory, and nothing where nothing is different."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from agents.monitor.recent import RecentVerdicts
from agents.monitor.trust_series import Plan, TrustSeries
from schemas import Alert, Attribute
from tests.agents.monitor.test_trust_series import KEY, LEARNED
from tests.support.trust_verdicts import outcome_of, verdict

STATE = TypeAdapter(RecentVerdicts)
NOW = datetime(2026, 11, 27, 9, 50, tzinfo=UTC)
_VERDICTS = st.lists(
    st.tuples(st.booleans(), st.sets(st.builds(Attribute, st.sampled_from("ab"), st.text(max_size=2)), max_size=4)),
    max_size=60,
)


@given(_VERDICTS, st.integers(0, 60))
def test_it_goes_on_from_its_state(verdicts, split):
    whole, first = RecentVerdicts(), RecentVerdicts()
    for accepted, having in verdicts:
        whole.add(accepted, sorted(having))
    for accepted, having in verdicts[:split]:
        first.add(accepted, sorted(having))
    again = STATE.validate_json(STATE.dump_json(first))
    for accepted, having in verdicts[split:]:
        again.add(accepted, sorted(having))
    assert STATE.dump_json(again) == STATE.dump_json(whole)
    assert again.common() == whole.common()


def test_memory_is_bounded_whatever_producers_choose():
    recent = RecentVerdicts()
    for number in range(3000):
        recent.add(number % 9 > 0, [Attribute("document", f"{number}-{each}" * 9) for each in range(16)])
        assert len(recent.verdicts) <= 200
        assert len(recent.attributes) <= 600
    few = RecentVerdicts()
    for number in range(3000):
        few.add(
            number % 9 > 0, [Attribute("metadata.release", str(number // 300)), Attribute("tenant", str(number % 7))]
        )
    assert len(STATE.dump_json(few)) < 5000
    # The release before is still there, in few verdicts.
    assert Attribute("metadata.release", "8") in few.attributes


def test_a_steady_series_has_nothing_in_common_at_any_time():
    rng = random.Random(5)
    named = 0
    for _ in range(150):
        recent, length, rate = RecentVerdicts(), rng.choice([150, 400, 900]), rng.choice([0.02, 0.1, 0.4])
        for number in range(length):
            having = [Attribute("hour", str(number // 60)), Attribute("tenant", str(int(rng.expovariate(0.3))))]
            recent.add(rng.random() >= rate, [*having, Attribute("document", str(int(rng.expovariate(0.03))))])
        named += bool(recent.common())
    assert named / 150 <= 0.05


def test_a_state_without_an_attribute_is_refused():
    with pytest.raises(ValidationError, match="without an attribute"):
        STATE.validate_python({"attributes": [], "verdicts": [[True, [0]]]})


def test_the_alert_of_a_drop_names_the_document_and_the_hour_is_told_with_a_release():
    series = TrustSeries(Plan.of(LEARNED, KEY))
    rng = random.Random(6)
    raised: list[Alert] = []
    for number in range(700):
        release = "4.1" if number < 600 else "4.2"
        accepted = rng.random() < (0.93 if release == "4.1" else 0.3)
        having = {"metadata.release": (release,), "document": (f"{rng.randrange(40)}.pdf",)}
        at = NOW + timedelta(seconds=number)
        found = series.update(outcome_of(verdict(number, accepted, attributes=having, checked_at=at)), at)
        raised += [found] if isinstance(found, Alert) else []
    (drop,) = raised
    (one,) = drop.common
    assert (one.name, one.value) == ("metadata.release", "4.2")
    assert one.also in {(), ("hour 2026-11-27T10",)}
    assert drop.model_validate_json(drop.model_dump_json()) == drop
