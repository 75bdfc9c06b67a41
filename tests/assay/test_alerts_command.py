"""`assay alerts`: what was raised, oldest first, once each, safe to look at."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from schemas import RejectedRecord, to_json
from tests.assay.running import assay, environment
from tests.support.rejections import DAY, alert, series_anew
from tests.support.scenarios import Place
from tests.support.traffic import put

# A shell that runs the tests in the background lets them, and what they start, ignore Ctrl-C.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from assay.__main__ import main
main()
"""


def test_alerts_are_shown_with_what_drove_them_oldest_first_and_once(tmp_path: Path, embedded_place: Place):
    alerts = [alert(1), alert(2, kind="trust_recovery", observed=0.9, rejected=())]
    _put(embedded_place, [*map(to_json, alerts), to_json(alerts[0]), b"{", None])
    ran = assay("alerts", cwd=tmp_path, **_servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "2026-11-16T08:00:00Z  trust drop  tests / m  by consistency  alert-1",
        "    0.700 of 100 accepted (0.600 to 0.800), baseline 0.900 (configured)",
        "    Trust in m dropped.",
        "      2026-11-16T08:00:00Z  r1: Reason 1.",
        "2026-11-16T08:00:00Z  trust recovery  tests / m  by consistency  alert-2",
        "    0.900 of 100 accepted (0.600 to 0.800), baseline 0.900 (configured)",
        "    Trust in m dropped.",
    ]
    assert "2 alerts on" in ran.stderr
    assert "2 messages there could not be read as an alert" in ran.stderr


def test_series_that_began_anew_are_shown_among_them(tmp_path: Path, embedded_place: Place):
    _put(embedded_place, [to_json(alert(1)), to_json(series_anew(1))])
    ran = assay("alerts", cwd=tmp_path, **_servers(embedded_place))
    assert ran.stdout.splitlines()[-2:] == [
        "2026-11-16T08:00:00Z  series anew  tests / m  by consistency  anew-1",
        "    The judge of m changed.",
    ]


def test_json_lines_are_the_alerts_as_they_stand_on_the_topic(tmp_path: Path, embedded_place: Place):
    # What a later version adds is kept.
    alerts = [alert(1, added={"by": "a later version"}), alert(2)]
    _put(embedded_place, map(to_json, alerts))
    ran = assay("alerts", "--json", cwd=tmp_path, **_servers(embedded_place))
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [json.loads(to_json(each)) for each in alerts]


def test_what_others_wrote_cannot_act_on_the_terminal(tmp_path: Path, embedded_place: Place):
    hostile = "\x1b[2J\x1b]0;owned\x07 \u202ereversed\r\n forged line " + "long words " * 80
    rejected = (RejectedRecord(verdict_id="v", record_id="r\u202e1", reason=hostile, checked_at=DAY),)
    _put(embedded_place, [to_json(alert(1, source="s\u202e", summary=hostile, rejected=rejected))])
    ran = assay("alerts", cwd=tmp_path, **_servers(embedded_place))
    assert len(ran.stdout.splitlines()) == 4
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", ran.stdout)
    assert len(ran.stdout.splitlines()[3]) < 300


def test_following_shows_new_ones_until_ctrl_c(tmp_path: Path, place: Place):
    place.prepare(place.settings(partitions=2))
    _put(place, [to_json(alert(1))])
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "alerts", "--follow", "--json"],
        cwd=tmp_path,
        env=environment(**_servers(place)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        late = threading.Timer(60, process.kill)
        late.start()
        try:
            assert process.stdout
            assert process.stderr
            assert json.loads(process.stdout.readline())["id"] == "alert-1"
            _put(place, [to_json(alert(1)), to_json(alert(2))])
            assert json.loads(process.stdout.readline())["id"] == "alert-2"
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
            assert process.stdout.read() == ""
            assert process.stderr.read() == "interrupted\n"
        finally:
            late.cancel()
            process.kill()


def test_without_broker_or_topic_it_says_so(tmp_path: Path, embedded_place: Place):
    nobody = assay("alerts", cwd=tmp_path, ASSAY_KAFKA__BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert nobody.returncode == 3
    assert "no Kafka broker answered at 127.0.0.1:1" in nobody.stderr
    ran = assay("alerts", cwd=tmp_path, **_servers(embedded_place) | {"ASSAY_TOPICS__PREFIX": "other"})
    assert ran.returncode == 3
    assert "no topic other.alerts" in ran.stderr


def _put(place: Place, values: Any) -> None:
    asyncio.run(put(place.servers, place.checked().topics.alerts, values))


def _servers(place: Place) -> dict[str, str]:
    return {"ASSAY_KAFKA__BOOTSTRAP_SERVERS": place.servers, "ASSAY_TOPICS__PREFIX": place.prefix}
