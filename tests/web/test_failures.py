"""The page on failures: what rejects have in common, the others by similar faults, and the series to choose from."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from schemas import Commonality
from tests.support.page import ALERT, numbered, opened, shown_on, text_of

HOSTILE = "<script>hit()</script>\u202e.pdf"


def _failing(document: str = "tariff-2026.pdf"):
    """Forty accepts that cite another document, and thirty rejects of which most cite this one."""
    accepts = [one | {"id": f"a{n}", "outcome": "accept", "score": 0.9} for n, one in enumerate(numbered(40))]
    accepts = [one | {"attributes": {"document": ["manual.pdf"]}} for one in accepts]
    rejects = [one | {"attributes": {"document": [document]}} for one in numbered(30)]
    return [*accepts, *rejects[:27], *(one | {"attributes": {}} for one in rejects[27:])]


async def test_it_names_what_rejects_have_and_leads_to_the_others(empty):
    empty.keep(_failing())
    empty.keep(one | {"id": f"m{n}", "model": "seldom", "record_id": f"m{n}"} for n, one in enumerate(numbered(2)))
    async with opened(empty) as client:
        shown, html = await shown_on(client, "/failures"), await text_of(client, "/failures")
        other = await shown_on(client, "/failures?model=seldom")
        chosen = await shown_on(client, "/failures?source=support-bot&model=seldom&checker=consistency")
    assert "acme-chat-4 in support-bot by consistency" in shown
    assert "30 rejects and 40 accepts from" in shown
    assert "document tariff-2026.pdf 27 of 30 (90%) 0 of 40 (0%)" in shown
    assert re.search(r"Most frequent faults.*30 of 30 \(100%\)", shown)
    assert "3 rejects with none of that in 1 group" in shown
    assert 'href="/verdicts/ver-2' in html
    assert "support-bot acme-chat-4 consistency 30 40" in shown
    assert "support-bot seldom consistency 2 0" in shown
    assert "support-bot acme-chat-4 consistency 30 40" in chosen
    assert "seldom in support-bot by consistency 2 rejects and 0 accepts" in other
    assert "nothing more often than accepts that chance does not explain" in other


async def test_names_that_producers_chose_are_shown_as_text(empty):
    empty.keep(_failing(HOSTILE))
    async with opened(empty) as client:
        html = await text_of(client, "/failures")
    assert "<script>hit" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;hit()" in html


@pytest.mark.parametrize("minutes", ["15", "1440", "129600"])
async def test_it_looks_back_as_far_as_it_is_told(empty, minutes):
    old = datetime.now(UTC) - timedelta(minutes=int(minutes) + 65)
    empty.keep(one | {"checked_at": old.isoformat(), "id": f"o{n}"} for n, one in enumerate(numbered(3)))
    async with opened(empty) as client:
        assert "was rejected from" in await shown_on(client, f"/failures?minutes={minutes}")
        empty.keep(numbered(2))
        assert "2 rejects and 0 accepts" in await shown_on(client, f"/failures?minutes={minutes}")
        assert "minutes is 7" in await text_of(client, "/failures?minutes=7", status=400)


async def test_an_alert_says_what_its_rejects_have_in_common(empty):
    one = Commonality(
        name="document", value="tariff-2026.pdf", rejects_with=47, rejects=52, accepts_with=3, accepts=400
    )
    empty.keep_message(ALERT.model_copy(update={"common": (one,)}))
    async with opened(empty) as client:
        shown = await shown_on(client, "/alerts/alert-1")
    assert "47 of 52 rejects cite tariff-2026.pdf; 3 of 400 accepts do" in shown
