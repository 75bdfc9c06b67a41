"""What an alert says of its rejects: in bounded memory, and nothing where nothing is different."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agents.monitor.label_series import LabelKey, LabelSeries, alert_of
from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.recent import RecentVerdicts
from agents.monitor.trust_series import Plan, TrustSeries
from schemas import Alert, Attribute, TrueRateAlert
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


def _release(number: int, rate: Callable[[str], float], rng: random.Random, releases: str) -> SeriesOutcome:
    name = rng.choice(releases)
    having = {"metadata.release": (name,), "document": (f"{rng.randrange(40)}.pdf",)}
    more = {"metadata": {"release": name}, "kind": "generation", "checked_at": NOW + timedelta(seconds=number)}
    return outcome_of(verdict(number, rng.random() < rate(name), attributes=having, **more))


def _named(alert: Alert | TrueRateAlert) -> tuple[str, str]:
    (one,) = alert.common
    assert alert.model_validate_json(alert.model_dump_json()) == alert
    return one.name, one.value


def test_alerts_name_the_release_and_not_its_hour():
    rng, rate = random.Random(6), {"1": 0.93, "2": 0.3}.__getitem__
    dropping, beside = TrustSeries(Plan.of(LEARNED, KEY)), TrustSeries(Plan.of(LEARNED, KEY))
    labelled, raised = LabelSeries(), list[Alert]()
    outcomes = [_release(number, rate, rng, "1" if number < 600 else "2") for number in range(700)]
    for one in outcomes:
        raised += [each for each in [dropping.update(one, one.checked_at)] if isinstance(each, Alert)]
        labelled.count(one.verdict_id, accepted=one.accepted, at=0, budget=1, attributes=one.attributes)
    for number in range(300):
        one = _release(number, rate, rng, "1" if number < 20 else "12")
        raised += [each for each in [beside.update(one, one.checked_at)] if isinstance(each, Alert)]
    told = {each.kind: _named(each) for each in raised if each.kind in {"trust_drop", "version_worse"}}
    assert told == dict.fromkeys(("trust_drop", "version_worse"), ("metadata.release", "2"))
    key = LabelKey("shop", "m", "fair", "d", "1")
    assert _named(alert_of(key, labelled, "model", 1, NOW)) == ("metadata.release", "2")
    assert alert_of(key, labelled, "recovery", 1, NOW).common == ()
