"""An alert: its rate, what changed, what its rejects have in common, and what caused it."""

from datetime import UTC, datetime

from schemas import SeriesAnew
from tests.support.labels import TRUE_RATE
from tests.support.page import ALERT, opened, shown_on, text_of


async def test_an_alert_shows_its_rate_what_changed_and_what_caused_it(empty):
    empty.keep_message(ALERT)
    empty.keep_message(
        SeriesAnew(
            id="anew",
            checker="consistency",
            source="minutes",
            model="m",
            raised_at=datetime.now(UTC),
            changed=(),
            verdicts=7,
            ended_drop="alert-1",
            summary="The judge changed.",
        )
    )
    async with opened(empty) as client:
        html, shown = await text_of(client, "/alerts/alert-1"), await shown_on(client, "/alerts/alert-1")
        listed, anew = await shown_on(client, "/alerts"), await text_of(client, "/alerts/anew")
    assert "31%, between 22% and 41%, of 88 verdicts" in shown
    assert "82% (learned)" in shown
    assert "strict-judge" in shown
    assert "metadata.prompt v3 v4" in shown
    assert '<a href="/verdicts/ver-1"><bdi>a wrong date</bdi></a>' in html
    assert listed.index("The judge changed.") < listed.index("The success rate dropped.")
    assert "/alerts/alert-1" in anew


async def test_an_alert_on_the_true_rate_names_the_verdicts_that_people_do_not_agree_with(empty):
    empty.keep_message(TRUE_RATE.model_copy(update={"raised_at": datetime.now(UTC)}))
    async with opened(empty) as client:
        html, shown = await text_of(client, "/alerts/alert-1"), await shown_on(client, "/alerts/alert-1")
        assert "The true success rate fell." in await shown_on(client, "/alerts")
    assert "90%, between 80% and 95%, since the series began" in shown
    assert '<a href="/verdicts/ver-2">' in html
