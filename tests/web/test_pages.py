"""Every address of the page, and what a person finds there."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from schemas import Measured, SeriesAnew
from schemas.bundled_judge import BUNDLED_ACCURACY, BUNDLED_MODEL
from tests.support.labels import CALIBRATION, TRUE_RATE
from tests.support.page import ALERT, SAMPLES, dead_letter, improvement, numbered, opened, sample
from tests.support.versions import DAY, version_rate, version_rates

ROWS = re.compile(r'<a href="/verdicts/(ver-[\w-]+)"')


async def _text(client, path, status=200):
    answer = await client.get(path, headers={"Accept": "text/html"})
    assert answer.status == status, path
    return await answer.text()


async def _shown(client, path):
    """The words of a page."""
    html = re.sub(r"</(td|th|li|p|d[td]|h\d)>", " ", await _text(client, path))
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


async def test_an_empty_store_is_told_what_fills_it(empty):
    async with opened(empty) as client:
        assert "No verdict is kept yet" in await _shown(client, "/")
        assert "No verdict matches" in await _shown(client, "/verdicts")
        assert "No alerts" in await _shown(client, "/alerts")


async def test_the_overview_has_rates_alerts_and_what_each_checker_did(empty):
    accepted = [one | {"id": f"a{n}", "outcome": "accept", "score": 0.9} for n, one in enumerate(numbered(30))]
    few = [one | {"id": f"f{n}", "model": "seldom"} for n, one in enumerate(numbered(2))]
    empty.keep([*accepted, *numbered(10), *few])
    empty.keep_message(ALERT)
    empty.keep_message(dead_letter("consistency"))
    async with opened(empty) as client:
        html, shown = await _text(client, "/"), await _shown(client, "/")
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


async def test_earlier_turns_stand_beside_the_sentence_that_contradicts_one(empty):
    one = sample("sup-02")
    first, *others = one["evidence"]["sentences"]
    turns = [
        {"record_id": "sup-00", "prompt": "How long?", "response": "You have <b>30</b> days. It is free."},
        {"record_id": "sup-01", "prompt": None, "response": "We are open."},
    ]
    said = {"record_id": "sup-00", "sentence": "You have <b>30</b> days.", "support": 0.2}
    faulty = first | {"mark": -1, "contradicts": said, "reason": "it contradicts the answer sup-00"}
    evidence = one["evidence"] | {"earlier": turns, "sentences": [faulty, *others]}
    empty.keep([one | {"evidence": evidence}])
    async with opened(empty) as client:
        html, shown = await _text(client, f"/verdicts/{one['id']}"), await _shown(client, f"/verdicts/{one['id']}")
    assert "and with 2 earlier answers of its session, which it must not contradict" in shown
    assert "Said before in sup-00: You have <b>30</b> days." in shown
    assert "Said before in the session Answer 1: sup-00 Asked: How long?" in shown
    assert "Answer 2: sup-01 We are open." in shown
    marked = re.search(r'<mark class="fault" id="earlier-1" data-numbers="1">(.*?)</mark>', html, re.DOTALL)
    assert marked
    assert "You have &lt;b&gt;30&lt;/b&gt; days." in marked[1]
    assert 'href="#earlier-1"' in html


@pytest.mark.parametrize("minutes", ["15", "60", "360", "1440", "10080", "43200", "129600"])
async def test_the_overview_looks_back_as_far_as_it_is_told(samples, minutes):
    async with opened(samples) as client:
        assert 'aria-current="true"' in await _text(client, f"/?minutes={minutes}")


async def test_the_overview_shows_any_time_in_steps_that_make_a_curve(empty):
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    times = [now - timedelta(minutes=minute) for minute in range(30)]
    empty.keep(one | {"checked_at": at.isoformat()} for one, at in zip(numbered(30), times, strict=True))
    empty.keep_message(ALERT.model_copy(update={"raised_at": now - timedelta(minutes=10)}))
    given = {"since": now - timedelta(minutes=20), "until": now - timedelta(minutes=5)}
    query = "&".join(f"{name}={moment:%Y-%m-%dT%H:%M}" for name, moment in given.items())
    async with opened(empty) as client:
        html = await _text(client, f"/?{query}")
        assert "<polyline" not in html
        # Fifteen verdicts are sparse: they stand in the table.
        assert re.search(r'outcome=reject">15</a>', html)
        hour, alert = await _text(client, "/?minutes=60"), await _text(client, "/alerts/alert-1")
        for wrong in ("since=2026-01-02T00:00&until=2026-01-01T00:00", "since=soon"):
            assert (await client.get(f"/?{wrong}")).status == 400
    assert len(re.search(r'<polyline class="line" points="([^"]+)"', hour)[1].split()) >= 14
    # The same curve is on the alert's own page, with its moment.
    assert re.search(r'class="(line|dot)"', alert)
    assert 'class="flag trust_drop"' in alert


async def test_a_list_is_walked_by_its_links_from_the_latest_to_the_earliest(empty):
    empty.keep(numbered(120))
    seen, path = [], "/verdicts?source=support-bot"
    async with opened(empty) as client:
        while path:
            html = await _text(client, path)
            seen += ROWS.findall(html)
            older = re.search(r'<a href="([^"]+)" rel="next"', html)
            path = unescape(older[1]) if older else ""
    assert seen == [f"ver-{number}" for number in reversed(range(120))]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("source=dedup&outcome=accept", {"par-01", "trusted"}),
        ("model=borealis-7b", {"sup-09", "trv-03"}),
        ("checker=longtail", {"pro-02"}),
        ("q=Thursday", set()),
        ("q=lamp+45", {"sup-02"}),
        ("since=2100-01-01T00:00", set()),
        ("until=2000-01-01", set()),
        ("source=dedup&outcome=accept&minutes=129600&until=2026-11-25", {"par-01", "trusted"}),
    ],
)
async def test_filters_live_in_the_address(samples, query, found):
    async with opened(samples) as client:
        html = await _text(client, f"/verdicts?{query}")
    ids = {one["verdict"]["id"]: one["verdict"]["record_id"] for one in SAMPLES}
    assert {ids[one] for one in ROWS.findall(html)} == found
    for name, value in (part.split("=") for part in query.split("&")):
        chosen = rf'name="{name}"[^>]*value="{value.replace("+", " ")}"|<option value="{value}" selected>'
        assert re.search(chosen, html), (name, value)


@pytest.mark.parametrize("one", SAMPLES, ids=lambda one: f"{one['verdict']['checker']}-{one['verdict']['record_id']}")
async def test_every_verdict_says_first_what_was_tested_and_then_shows_it(samples, one):
    verdict = one["verdict"]
    async with opened(samples) as client:
        shown = await _shown(client, f"/verdicts/{verdict['id']}")
    assert re.search("What was tested|Why it was not decided", shown)
    assert " ".join(verdict["reason"].split()) in shown
    for told in {
        "consistency": lambda e: [e["sentences"][0]["reason"]],
        "equivalence": lambda e: [pair["second"] for pair in e["proof"]["alignments"][0]["pairs"]],
        "extraction": lambda e: [e["rounds"][0]["x"]["vector"], e["entities"][0]["replacement"]],
        "labelling": lambda e: [str(e["runs"][0]["rounds"][0]["similar"]), e["runs"][0]["criteria"][0]],
        "retrieval": lambda e: [e["matched"]["text_to_query"]["passage"]],
        "probe": lambda e: [e["question"], f"Expected: {e['expected']}", f"number {e['template']}"],
        "tool_call": lambda e: [e["tool"], e["arguments"][0]["reason"], e["arguments"][0]["value"]],
        "abstention": lambda e: [e["cause"], e["detail"]],
        "criterion": lambda e: [e["ask"], e["quote"], "a yes rejects"],
    }[verdict["evidence"]["type"]](verdict["evidence"]):
        assert " ".join(told.split()) in shown


async def test_the_words_at_fault_of_a_criterion_are_marked_and_it_has_its_own_series(samples):
    verdict = sample("crit-01")
    async with opened(samples) as client:
        html = await _text(client, f"/verdicts/{verdict['id']}")
        listed = await _text(client, "/verdicts?checker=no_refunds&minutes=129600&until=2026-11-25")
    marked = re.search(r"I am sorry. You will get <mark class=\"fault\"[^>]*>(.*?)<sup>", html)
    assert marked[1] == verdict["evidence"]["quote"]
    assert "A broken lamp is repaired free of charge" in html
    assert ROWS.findall(listed) == [verdict["id"]]


async def test_a_faulty_sentence_its_reason_and_its_passage_have_one_number(samples):
    verdict = sample("sup-09")
    async with opened(samples) as client:
        html = await _text(client, f"/verdicts/{verdict['id']}")
    for number, one in enumerate(verdict["evidence"]["sentences"], start=1):
        mark = re.search(
            rf'<mark class="fault" id="sentence-{number}"[^>]*aria-describedby="reason-{number}">(.*?)<sup>', html
        )
        assert one["text"] in mark[1]
        assert one["reason"] in unescape(re.search(rf'id="reason-{number}">(.*?)</p>', html)[1])
        passage = re.search(rf'<mark class="fault" id="passage-{number}"[^>]*>(.*?)<sup>', html)
        assert one["passage"] in passage[1]


async def test_offsets_are_code_points_beyond_the_first_plane(empty):
    response = "😀🇳🇱 Grüße! The lamp costs 9 euros."
    start = response.index("The")
    finding = sample("sup-02")["evidence"]["sentences"][0]
    finding = finding | {"text": response[start:], "start": start, "end": len(response), "mark": -1}
    evidence = sample("sup-02")["evidence"] | {"sentences": [finding]}
    empty.keep([sample("sup-02", evidence=evidence)])
    empty.keep_record(source="support-bot", id="sup-02", response=response, contexts=[response])
    async with opened(empty) as client:
        html = await _text(client, f"/verdicts/{sample('sup-02')['id']}")
    assert re.search(r'😀🇳🇱 Grüße! <mark[^>]*><a href="#reason-1"[^>]*>The lamp costs 9 euros\.</a>', html)


async def test_without_its_record_a_verdict_shows_what_it_quotes_and_how_to_keep_more(empty):
    empty.keep([sample("sup-09")])
    async with opened(empty) as client:
        shown = await _shown(client, f"/verdicts/{sample('sup-09')['id']}")
    assert "Put together from the sentences" in shown
    assert sample("sup-09")["evidence"]["sentences"][1]["passage"] in shown
    assert "store.records = true" in shown


async def test_a_record_is_read_back_where_it_is_not_kept(empty):
    async def find(verdict):
        return json.dumps({"response": "You can return it.", "contexts": ["A lamp, read back."]}).encode()

    empty.keep([sample("sup-02")])
    async with opened(empty, find_record=find) as client:
        shown = await _shown(client, f"/verdicts/{sample('sup-02')['id']}")
    assert "A lamp, read back." in shown
    assert "read back from its topic" in shown


async def test_a_record_has_all_its_verdicts_side_by_side(samples):
    samples.keep([sample("sup-02", id="ver-second", checker="politeness", outcome="accept", score=1.0)])
    async with opened(samples) as client:
        shown = await _shown(client, "/records/support-bot/sup-02")
        beside = await _shown(client, "/verdicts/ver-second")
    assert "rejected by consistency" in shown
    assert "accepted by politeness" in shown
    assert "Other verdicts on this record" in beside
    assert "All verdicts on sup-02, side by side" in beside


async def test_the_trace_and_the_tenant_of_a_record_are_told(empty):
    empty.keep([sample("sup-02", id="ver-1", tenant="north", trace={"trace_id": "ab" * 16})])
    async with opened(empty) as client:
        shown = await _shown(client, "/verdicts/ver-1")
    assert "Tenant north" in shown
    assert f"Trace {'ab' * 16}" in shown


async def test_names_in_an_address_may_have_any_character(empty):
    empty.keep([sample("sup-02", id="ver-1", source="a/b & c?", record_id="x/ü#1%2F")])
    async with opened(empty) as client:
        html = await _text(client, "/records/a%2Fb%20%26%20c%3F/x%2F%C3%BC%231%252F")
        assert "/verdicts/ver-1" in html
        assert "ver-1" in await _text(client, "/verdicts?source=a%2Fb+%26+c%3F")


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
        html, shown = await _text(client, "/alerts/alert-1"), await _shown(client, "/alerts/alert-1")
        listed, anew = await _shown(client, "/alerts"), await _text(client, "/alerts/anew")
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
        html, shown = await _text(client, "/alerts/alert-1"), await _shown(client, "/alerts/alert-1")
        assert "The true success rate fell." in await _shown(client, "/alerts")
    assert "90%, between 80% and 95%, since the series began" in shown
    assert '<a href="/verdicts/ver-2">' in html


def _calibration(number: int = 1, **more):
    of = {name: sample("sup-02")[name] for name in ("source", "model", "checker", "config_digest")}
    return CALIBRATION.model_copy(update=of | {"id": f"cal-{number}", "updated_at": datetime.now(UTC)} | more)


async def test_the_overview_begins_with_how_far_judge_and_people_agree_and_what_is_true_then(empty):
    empty.keep(numbered(20))
    empty.keep_message(_calibration())
    async with opened(empty) as client:
        html, shown = await _text(client, "/"), await _shown(client, "/")
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
    samples.keep_message(_calibration(**known))
    async with opened(samples) as client:
        assert said in await _shown(client, "/")


async def test_another_configuration_begins_anew_and_what_was_before_is_told(samples):
    samples.keep_message(_calibration(1, updated_at=datetime.now(UTC) - timedelta(days=1)))
    samples.keep_message(_calibration(2, config_digest="e", labels=3, agreed=2, rate=None, kappa=None))
    async with opened(samples) as client:
        shown = await _shown(client, "/")
    assert "agrees with your people on 2 of 3 outputs" in shown
    assert "labels start again; before, 90% were good (80% to 95%, 30 labels)" in shown


SERIES = {"source": "support-bot", "model": "acme-chat-4", "checker": "consistency"}
OF_SERIES = "/verdicts?" + urlencode(SERIES)


def _versions(*, kinds=({"generation": 400}, {"generation": 200})):
    first = version_rate("4.1", 400, 360, kind=kinds[0])
    return version_rates(first, version_rate("4.2 <b>", 200, 150, day=1, kind=kinds[1]), **SERIES)


async def test_a_series_shows_its_versions_and_whether_the_latest_is_worse(samples):
    samples.keep_message(_versions())
    async with opened(samples) as client:
        html, shown = await _text(client, OF_SERIES), await _shown(client, OF_SERIES)
        assert "Versions" not in await _shown(client, "/verdicts?source=support-bot")
    assert "−15.0 points from 4.1 to 4.2 <b>, between −25.5 and −4.5." in shown
    assert "4.2 &lt;b&gt;" in html
    assert "The traffic differs" not in shown
    assert "4.1 2026-03-02 00:00:00 400 90% – 0 – – –" in shown


async def test_other_traffic_is_said(samples):
    samples.keep_message(_versions(kinds=({"generation": 400}, {"generation": 100, "probe": 100})))
    async with opened(samples) as client:
        shown = await _shown(client, OF_SERIES)
    assert "The traffic differs (kind): the difference may come from there." in shown
    assert "differs: kind" in shown


async def test_peoples_labels_correct_the_difference(samples):
    samples.keep_message(_versions())
    measured = Measured(estimate=-0.02, low=-0.1, high=0.06)
    of_labels = [
        version_rate(name, 400, 350).model_copy(update={"labels": 60, "change": change, "first_at": DAY})
        for name, change in (("4.1", None), ("4.2 <b>", measured))
    ]
    samples.keep_message(_calibration(versions=tuple(of_labels)))
    async with opened(samples) as client:
        shown = await _shown(client, OF_SERIES)
    assert "−2.0 points from 4.1 to 4.2 <b>, between −10.0 and +6.0, by people’s labels." in shown
    assert "Neither is proved to be better." in shown
    assert "−2.0 (−10.0 to +6.0)" in shown


async def test_a_worse_version_is_open_until_its_end_and_hides_no_drop(empty):
    empty.keep(numbered(30))
    difference = Measured(estimate=-0.1, low=-0.2, high=-0.02)
    given = {"id": "alert-2", "kind": "version_worse", "baseline_from": "version", "difference": difference}
    worse = ALERT.model_copy(update=given)
    empty.keep_message(ALERT, worse)
    async with opened(empty) as client:
        assert "2 open alerts" in await _shown(client, "/")
        assert "of its latest version’s 88 accepted, 82% of the version’s before" in await _shown(client, "/")
        shown = await _shown(client, "/alerts/alert-2")
        assert "Version before 82%, less a tolerance" in shown
        assert "Difference −10.0 points, between −20.0 and −2.0, at every look" in shown
        empty.keep_message(worse.model_copy(update={"id": "alert-3", "kind": "version_recovery"}))
        assert "1 open alert" in await _shown(client, "/")
        assert "▲ version recovered" in await _shown(client, "/alerts")


async def test_an_improvement_stands_beside_the_verdict(samples):
    samples.keep_message(improvement(sample("sup-02")["id"]))
    async with opened(samples) as client:
        shown = await _shown(client, f"/verdicts/{sample('sup-02')['id']}")
    assert "Rewritten and accepted" in shown
    assert "within 30 days" in shown


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/verdicts/none", 404, "no such verdict"),
        ("/records/a/b", 404, "no verdict on this record"),
        ("/alerts/none", 404, "no such alert"),
        ("/nowhere", 404, "Not Found"),
        ("/static/../app.py", 404, "Not Found"),
        ("/verdicts?before=x", 400, "a number belongs"),
        ("/verdicts?before=9999999999999999999999", 400, "a number belongs"),
        ("/verdicts?outcome=maybe", 400, "allowed are accept, reject, abstain"),
        ("/verdicts?since=yesterday", 400, "expected a time such as"),
        (f"/verdicts?q={'x' * 300}", 400, "allowed are 256"),
        ("/?minutes=3", 400, "allowed are 15, 60, 360, 1440, 10080, 43200, 129600"),
        ("/live?after=-1", 400, "a number belongs"),
    ],
)
async def test_a_wrong_address_is_told_what_is_wrong(samples, path, status, said):
    async with opened(samples) as client:
        assert said in unescape(await _text(client, path, status))


async def test_a_store_that_is_gone_is_told_of(empty, tmp_path: Path):
    async with opened(empty) as client:
        await _text(client, "/")
        empty.close()
        (tmp_path / "verdicts.db").write_bytes(b"no database, " * 1000)
        assert "The store cannot be read" in await _text(client, "/verdicts", 503)


async def test_tables_have_captions_and_heads_and_every_id_is_there_once(samples):
    paths = ["/", "/verdicts", "/alerts", *(f"/verdicts/{one['verdict']['id']}" for one in SAMPLES)]
    async with opened(samples) as client:
        for path in paths:
            html = await _text(client, path)
            tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
            assert all("<caption>" in one and 'scope="col"' in one for one in tables), path
            ids = re.findall(r'\bid="([^"]+)"', html)
            assert len(ids) == len(set(ids)), path
            assert not set(re.findall(r'aria-describedby="([^"]+)"', html)) - set(ids), path
            assert not set(re.findall(r'href="#([^"]+)"', html)) - set(ids), path
            assert " style=" not in html
            assert "<h1" in html


@pytest.mark.parametrize("kind", ["sup-02", "ret-03"])
async def test_a_verdict_says_how_its_judge_did_in_its_self_test(empty, kind):
    figure = {"form": "short", "accuracy": 0.81, "pairs": 58}
    plain, tested = (sample(kind)["evidence"] | {"self_test": one} for one in (None, figure))
    empty.keep([sample(kind, id="ver-plain", evidence=plain), sample(kind, id="ver-tested", evidence=tested)])
    async with opened(empty) as client:
        html = await (await client.get("/verdicts/ver-tested")).text()
        assert "The judge was right on 81% of 58 built-in pairs, asked in the <bdi>short</bdi> form." in html
        assert "built-in pairs" not in await (await client.get("/verdicts/ver-plain")).text()


async def test_a_verdict_of_the_bundled_judge_says_how_often_that_is_right(empty):
    judges = {"ver-bundled": f"local/{BUNDLED_MODEL}@13", "ver-other": "openai/judge-large"}
    empty.keep(sample("sup-02", id=id_, judge=judge) for id_, judge in judges.items())
    async with opened(empty) as client:
        said = {id_: BUNDLED_ACCURACY in await _text(client, f"/verdicts/{id_}") for id_ in judges}
    assert said == {"ver-bundled": True, "ver-other": False}


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
        empty.keep_message(SeriesAnew(id="anew", checker="consistency", source="support-bot", model="acme-chat-4",
                                      raised_at=datetime.now(UTC), changed=(), verdicts=7, ended_drop="alert-1",
                                      summary="The judge changed."))  # fmt: skip
    elif later:
        empty.keep_message(ALERT.model_copy(update={"id": "alert-2", **later}))
    async with opened(empty) as client:
        html = await _text(client, "/")
    assert ('class="banner"' in html) == is_open
    assert ('class="card fallen"' in html) == is_open


async def test_a_list_is_a_download_with_the_same_filters(samples):
    async with opened(samples) as client:
        listed = ROWS.findall(await _text(client, "/verdicts?outcome=reject"))
        document = await (await client.get("/verdicts.json?outcome=reject")).json()
        lines = (await (await client.get("/verdicts.csv?outcome=reject")).text()).splitlines()
        assert (await client.get("/verdicts.json?outcome=perhaps")).status == 400
    assert [one["id"] for one in document["verdicts"]] == listed
    assert document["earlier"] is None
    assert [line.partition(",")[0] for line in lines] == ["id", *listed]


async def test_a_download_goes_on_and_a_spreadsheet_computes_nothing_of_it(empty):
    empty.keep(one | {"id": f"n{n}", "reason": "=HYPERLINK(1)"} for n, one in enumerate(numbered(501)))
    async with opened(empty) as client:
        first = await client.get("/verdicts.csv")
        assert "'=HYPERLINK(1)" in await first.text()
        earlier = re.search(r"<(.+)>; rel=\"next\"", first.headers["Link"])[1]
        assert len((await (await client.get(earlier)).text()).splitlines()) == 2


async def test_an_undecided_verdict_shows_the_sentences_that_were_left_open(samples):
    found = sample("sup-02")["evidence"]
    sentences = [one | {"unsure": not number} for number, one in enumerate(found["sentences"])]
    evidence = {"type": "abstention", "cause": "between_thresholds", "detail": "the judge is not sure", "score": 0.5}
    evidence |= {"graded": found | {"sentences": sentences}}
    samples.keep([sample("sup-02", id="ver-open", outcome="abstain", score=None, evidence=evidence)])
    async with opened(samples) as client:
        html, shown = await _text(client, "/verdicts/ver-open"), await _shown(client, "/verdicts/ver-open")
    assert "left open" in shown
    assert sentences[0]["text"] in shown
    assert 'id="passage-' in html


async def test_outputs_of_the_past_are_listed_and_count_in_no_rate(empty):
    empty.keep(one | {"rechecked": True} for one in numbered(25))
    async with opened(empty) as client:
        assert "No verdict was given in this time" in await _shown(client, "/")
        assert len(ROWS.findall(await _text(client, "/verdicts"))) == 25
        assert "counts in no rate" in await _shown(client, "/verdicts/ver-1")
