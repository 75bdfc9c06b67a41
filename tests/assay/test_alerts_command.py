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

from schemas import Origin, RejectedRecord, SentenceFinding, to_json
from tests.assay.running import assay, environment, servers
from tests.support.rejections import DAY, alert, consistency_rejection, rejection, series_anew
from tests.support.scenarios import Place
from tests.support.traffic import put

AT = "2026-11-16T08:00:00Z"

# A shell that runs the tests in the background lets them, and what they start, ignore Ctrl-C.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from assay.__main__ import main
main()
"""


def test_alerts_are_shown_with_what_drove_them_oldest_first_and_once(tmp_path: Path, embedded_place: Place):
    """A rejected record's explanation is its verdict's; its reason stands in for a verdict that is gone."""
    topics = embedded_place.checked().topics
    finding = SentenceFinding(
        text="It was blue.", start=0, end=12, mark=-1, reason="The colour.", passage="It was red.", support=0.0
    )
    found = consistency_rejection(1, topics.outputs, finding)
    for topic in (topics.rejected, topics.improved):
        asyncio.run(put(embedded_place.servers, topic, [to_json(rejection(0, topics.outputs)), to_json(found)]))
    places = [(topics.rejected, 1), (topics.rejected, 0), (topics.improved, 1), (topics.rejected, 99)]
    origins = [*(Origin(topic=topic, partition=0, offset=offset) for topic, offset in places), None]
    rejected = tuple(
        RejectedRecord(
            verdict_id=found.id, record_id=f"r{number}", reason="Reason.", checked_at=DAY, verdict_origin=origin
        )
        for number, origin in enumerate(origins, 1)
    )
    alerts = [alert(1, rejected=rejected), alert(2, kind="trust_recovery", observed=0.9, rejected=())]
    _put(embedded_place, [*map(to_json, alerts), to_json(series_anew(1)), to_json(alerts[0]), b"{", None])
    ran = assay("alerts", cwd=tmp_path, **servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    gone = [line for number in range(2, 6) for line in (f"REJECT   r{number}             -  {AT}", "         Reason.")]
    assert ran.stdout.splitlines() == [
        f"TRUST DROP  {AT}  alert-1",
        "         Trust in m dropped.",
        f"REJECT   r1          0.50  {AT}",
        "         says:   “It was blue.”",
        "         fault:  The colour.",
        "         source: “It was red.”",
        *gone,
        f"TRUST RECOVERY  {AT}  alert-2",
        "         Trust in m dropped.",
        f"SERIES ANEW  {AT}  anew-1",
        "         The judge of m changed.",
    ]
    assert "3 alerts on" in ran.stderr
    assert "2 messages there could not be read as alerts" in ran.stderr


def test_json_lines_are_the_alerts_as_they_stand_on_the_topic(tmp_path: Path, embedded_place: Place):
    # What a later version adds is kept.
    alerts = [alert(1, added={"by": "a later version"}), alert(2)]
    _put(embedded_place, map(to_json, alerts))
    ran = assay("alerts", "--json", cwd=tmp_path, **servers(embedded_place))
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [json.loads(to_json(each)) for each in alerts]


def test_what_others_wrote_cannot_act_on_the_terminal(tmp_path: Path, embedded_place: Place):
    hostile = "\x1b[2J\x1b]0;owned\x07 \u202ereversed\r\n forged line " + "long words " * 80
    rejected = (RejectedRecord(verdict_id="v", record_id="r\u202e1", reason=hostile, checked_at=DAY),)
    _put(embedded_place, [to_json(alert(1, source="s\u202e", summary=hostile, rejected=rejected))])
    ran = assay("alerts", cwd=tmp_path, **servers(embedded_place))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", ran.stdout)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    # Of the summary and the reason so much as is read, and no line of theirs can pass for one of ours.
    assert len(ran.stdout.splitlines()) < 20
    assert not re.search(r"^ ?forged", ran.stdout, re.MULTILINE)


def test_following_shows_new_ones_until_ctrl_c(tmp_path: Path, place: Place):
    place.prepare(place.settings(partitions=2))
    _put(place, [to_json(alert(1))])
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "alerts", "--follow", "--json"],
        cwd=tmp_path,
        env=environment(**servers(place)),
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


def _put(place: Place, values: Any) -> None:
    asyncio.run(put(place.servers, place.checked().topics.alerts, values))
