"""The overview, alerts and failures: rates, what each checker did, what changed and what rejects have in common."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from schemas import Commonality, Measured, SeriesAnew
from tests.support.labels import TRUE_RATE
from tests.support.page import ALERT, ROWS, calibration, dead_letter, numbered, opened, shown_on, text_of

RESET = SeriesAnew(id="anew", checker="consistency", source="support-bot", model="acme-chat-4", changed=(), verdicts=7,
                   raised_at=datetime.now(UTC), ended_drop="alert-1", summary="The judge changed.")  # fmt: skip


async def test_an_empty_store_is_told_what_fills_it(empty):
    async with opened(empty) as client:
        assert "No verdict is kept yet" in await shown_on(client, "/")
        assert "No verdict matches" in await shown_on(client, "/verdicts")
        assert "No alerts" in await shown_on(client, "/alerts")


async def test_the_overview_has_rates_alerts_and_what_each_checker_did(empty):
    accepted = [one | {"id": f"a{n}", "outcome": "accept", "score": 0.9} for n, one in enumerate(numbered(30))]
    few = [one | {"id": f"f{n}", "model": "seldom"} for n, one in enumerate(numbered(2))]
    empty.keep([*accepted, *numbered(10), *few])
    empty.keep_message(ALERT)
    empty.keep_message(dead_letter("consistency"))
    async with opened(empty) as client:
        html, shown = await text_of(client, "/"), await shown_on(client, "/")
    assert "75% accepted of 40" in shown
    assert "59.8% to 85.8%" in shown
    # Of two verdicts there is an interval and no picture.
    assert html.count('class="card') - html.count('class="cards"') == 1
    assert "seldom consistency – 0% to 65.8%" in shown
    assert "1 open alert ▼ acme-chat-4 in support-bot, by consistency: 31% of the last 88 accepted, 82%" in shown
    assert re.search(r'class="(line|dot)"', html)
    assert 'class="flag trust_drop"' in html
    assert "/alerts/alert-1" in html
    assert re.search(r"consistency 43 30 12 0 1 20\d\d-", shown)
    assert "The last verdict was given at" in shown


async def test_the_overview_shows_any_time_in_steps_that_make_a_curve(empty):
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    times = [now - timedelta(minutes=minute) for minute in range(30)]
    empty.keep(one | {"checked_at": at.isoformat()} for one, at in zip(numbered(30), times, strict=True))
    empty.keep_message(ALERT.model_copy(update={"raised_at": now - timedelta(minutes=10)}))
    given = {"since": now - timedelta(minutes=20), "until": now - timedelta(minutes=5)}
    query = "&".join(f"{name}={moment:%Y-%m-%dT%H:%M}" for name, moment in given.items())
    async with opened(empty) as client:
        html = await text_of(client, f"/?{query}")
        assert "<polyline" not in html
        # Fifteen verdicts are sparse: they stand in the table.
        assert re.search(r'outcome=reject">15</a>', html)
        hour, alert = await text_of(client, "/?minutes=60"), await text_of(client, "/alerts/alert-1")
        for wrong in ("since=2026-01-02T00:00&until=2026-01-01T00:00", "since=soon"):
            assert (await client.get(f"/?{wrong}")).status == 400
    assert len(re.search(r'<polyline class="line" points="([^"]+)"', hour)[1].split()) >= 14
    # The same curve is on the alert's own page, with its moment.
    assert re.search(r'class="(line|dot)"', alert)
    assert 'class="flag trust_drop"' in alert


@pytest.mark.parametrize(
    ("later", "is_open"),
    [
        (None, True),
        ({"kind": "trust_recovery"}, False),
        ({"kind": "trust_recovery", "model": "another"}, True),
        ("anew", False),
    ],
)
async def test_an_alert_is_open_until_its_series_recovers_or_is_reset(empty, later, is_open):
    empty.keep(numbered(20))
    empty.keep_message(ALERT)
    if later == "anew":
        empty.keep_message(RESET)
    elif later:
        empty.keep_message(ALERT.model_copy(update={"id": "alert-2", **later}))
    async with opened(empty) as client:
        html = await text_of(client, "/")
    assert ('class="banner"' in html) == is_open
    assert ('class="card fallen"' in html) == is_open


async def test_a_worse_version_is_told_and_hides_no_drop(empty):
    empty.keep(numbered(30))
    difference = Measured(estimate=-0.1, low=-0.2, high=-0.02)
    given = {"id": "alert-2", "kind": "version_worse", "baseline_from": "version", "difference": difference}
    empty.keep_message(ALERT, ALERT.model_copy(update=given))
    async with opened(empty) as client:
        assert "1 open alert" in await shown_on(client, "/")
        assert "▼ version worse" in await shown_on(client, "/alerts")
        shown = await shown_on(client, "/alerts/alert-2")
        assert "Version before 82%, less a tolerance" in shown
        assert "Difference −10.0 points, between −20.0 and −2.0, at every look" in shown


async def test_outputs_of_the_past_are_listed_and_count_in_no_rate(empty):
    empty.keep(one | {"rechecked": True} for one in numbered(25))
    async with opened(empty) as client:
        assert "No verdict was given in this time" in await shown_on(client, "/")
        assert len(ROWS.findall(await text_of(client, "/verdicts"))) == 25
        assert "counts in no rate" in await shown_on(client, "/verdicts/ver-1")


async def test_the_overview_begins_with_how_far_judge_and_people_agree_and_what_is_true_then(empty):
    empty.keep(numbered(20))
    empty.keep_message(calibration())
    async with opened(empty) as client:
        html, shown = await text_of(client, "/"), await shown_on(client, "/")
    assert html.index("agrees with your people") < html.index('class="card"')
    assert (
        "consistency agrees with your people on 24 of 30 outputs of acme-chat-4 in support-bot (kappa 0.90, "
        "0.80 to 0.95). 90% of all its outputs are good, between 80% and 95%; "
        "the judge accepts 90%."
    ) in shown
    assert "support-bot acme-chat-4 consistency 80% 90% 95% 90% 30 100% 0.90 (0.80 to 0.95) 90% –" in shown
    assert "The judge adds nothing" not in shown


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"labels_alone": 0.076}, "The judge adds nothing: labels alone would be as narrow (± 7.6%)."),
        (
            {"labels": 29, "rate": None, "kappa": None},
            "from 30 labels on, five of each outcome; there are 29 now: 18 of accepted.",
        ),
        ({"fallen": True}, "▼ the true rate fell consistency agrees"),
        ({"missing": Measured(estimate=0.9, low=0.5, high=0.97)}, "were those all bad it would be 50%, were they all"),
    ],
)
async def test_what_is_known_of_a_judge_is_told_as_it_is(samples, known, said):
    samples.keep_message(calibration(**known))
    async with opened(samples) as client:
        assert said in await shown_on(client, "/")


async def test_an_alert_shows_its_rate_what_changed_and_what_caused_it(empty):
    common = Commonality(name="document", value="t.pdf", rejects_with=47, rejects=52, accepts_with=3, accepts=400)
    empty.keep_message(ALERT.model_copy(update={"common": (common,)}))
    empty.keep_message(RESET.model_copy(update={"source": "minutes", "model": "m"}))
    async with opened(empty) as client:
        html, shown = await text_of(client, "/alerts/alert-1"), await shown_on(client, "/alerts/alert-1")
        listed, anew = await shown_on(client, "/alerts"), await text_of(client, "/alerts/anew")
    assert "31%, between 22% and 41%, of 88 verdicts" in shown
    assert "82% (learned)" in shown
    assert "47 of 52 rejects cite t.pdf; 3 of 400 accepts do" in shown
    assert "strict-judge" in shown
    assert "metadata.prompt v3 v4" in shown
    assert '<a href="/verdicts/ver-1"><bdi>a wrong date</bdi></a>' in html
    assert listed.index("The judge changed.") < listed.index("Trust in m dropped.")
    assert "/alerts/alert-1" in anew


async def test_an_alert_on_the_true_rate_names_the_verdicts_that_people_do_not_agree_with(empty):
    empty.keep_message(TRUE_RATE.model_copy(update={"raised_at": datetime.now(UTC)}))
    async with opened(empty) as client:
        html, shown = await text_of(client, "/alerts/alert-1"), await shown_on(client, "/alerts/alert-1")
        assert "The true success rate fell." in await shown_on(client, "/alerts")
    assert "90%, between 80% and 95%, since the series began" in shown
    assert '<a href="/verdicts/ver-2">' in html


def _failing(document: str):
    """Forty accepts that cite another document, and thirty rejects of which most cite this one."""
    accepts = [one | {"id": f"a{n}", "outcome": "accept", "score": 0.9} for n, one in enumerate(numbered(40))]
    accepts = [one | {"attributes": {"document": ["manual.pdf"]}} for one in accepts]
    rejects = [one | {"attributes": {"document": [document]}} for one in numbered(30)]
    return [*accepts, *rejects[:27], *(one | {"attributes": {}} for one in rejects[27:])]


async def test_it_names_what_rejects_have_and_leads_to_the_others(empty):
    # Names are shown as text.
    empty.keep(_failing("<b>tariff-2026\u202e.pdf"))
    empty.keep(one | {"id": f"m{n}", "model": "seldom", "record_id": f"m{n}"} for n, one in enumerate(numbered(2)))
    async with opened(empty) as client:
        shown, html = await shown_on(client, "/failures"), await text_of(client, "/failures")
        other = await shown_on(client, "/failures?model=seldom")
        chosen = await shown_on(client, "/failures?source=support-bot&model=seldom&checker=consistency")
    assert "acme-chat-4 in support-bot by consistency" in shown
    assert "30 rejects and 40 accepts from" in shown
    assert "document <b>tariff-2026⟨U+202E⟩.pdf 27 of 30 (90%) 0 of 40 (0%)" in shown
    assert "<b>tariff" not in html
    assert re.search(r"Most frequent faults.*30 of 30 \(100%\)", shown)
    assert "3 rejects with none of that in 1 group" in shown
    assert 'href="/verdicts/ver-2' in html
    assert "support-bot acme-chat-4 consistency 30 40" in shown
    assert "support-bot seldom consistency 2 0" in shown
    assert "support-bot acme-chat-4 consistency 30 40" in chosen
    assert "seldom in support-bot by consistency 2 rejects and 0 accepts" in other
    assert "nothing more often than accepts that chance does not explain" in other
