"""`assay verdicts` and `assay alerts`: from topics or the store, once each, with reasons, safe to look at."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from schemas import Abstention, Origin, RejectedRecord, SentenceFinding, Verdict, to_json
from tests.assay.running import assay, environment, servers
from tests.support.rejections import DAY, alert, consistency_rejection, rejection, series_anew
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put
from tests.support.trust_verdicts import put_verdicts

FINDING = SentenceFinding(
    text="It was blue.", start=0, end=12, mark=-1, reason="The colour.", passage="It was red.", support=0.0
)


def accepted(number: int, **more: Any) -> Verdict:
    return rejection(number, "t", outcome="accept", score=0.75, reason=f"Record {number} is fine.", **more)


def abstained(number: int, **more: Any) -> Verdict:
    evidence = Abstention(cause="no_reference", detail="nothing to compare")
    return rejection(number, "t", outcome="abstain", score=None, reason="Could not decide.", evidence=evidence, **more)


def test_all_outcomes_are_shown_as_the_demo_shows_them_oldest_first_and_once(tmp_path: Path, embedded_place: Place):
    rejected = consistency_rejection(1, "t", FINDING)
    _put(embedded_place, accepted(0), rejected, abstained(2), rejected, rejection(3, "t"))
    asyncio.run(put(embedded_place.servers, embedded_place.checked().topics.accepted, [b"{", None]))
    ran = assay("verdicts", cwd=tmp_path, **servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "ACCEPT   r0          0.75  tests / m  by consistency",
        "REJECT   r1          0.50  tests / m  by consistency",
        "         says:   “It was blue.”",
        "         fault:  The colour.",
        "         source: “It was red.”",
        "ABSTAIN  r2             -  tests / m  by consistency",
        "         Could not decide.",
        "REJECT   r3          0.50  tests / m  by consistency",
        "         Sentence 3 is not supported.",
    ]
    prefix = embedded_place.prefix
    topics = f"{prefix}.verdicts.accepted, {prefix}.verdicts.rejected, {prefix}.verdicts.abstained"
    assert ran.stderr.splitlines() == [
        f"4 verdicts on {topics}",
        "2 messages there could not be read as verdicts",
    ]


def test_the_latest_of_some_time_are_shown_where_there_are_many(tmp_path: Path, embedded_place: Place):
    _put(embedded_place, *(accepted(number) for number in range(6)))
    given = {"cwd": tmp_path, **servers(embedded_place)}
    ran = assay("verdicts", "--limit", "2", **given)
    assert re.findall(r"^ACCEPT +(r\d)", ran.stdout, re.MULTILINE) == ["r4", "r5"]
    assert assay("verdicts", "--since", "2100-01-01", **given).stdout == ""
    assert assay("verdicts", "--since", "2000-01-01", **given).stdout.count("ACCEPT") == 6
    assert assay("verdicts", "--limit", "2", "--follow", **given).returncode == 2


def test_a_store_is_followed(tmp_path: Path, sqlite_store: Stored):
    sqlite_store.keep([accepted(0)])
    variables = environment(ASSAY_STORE__URL=sqlite_store.url)
    command = [sys.executable, "-m", "assay", "verdicts", "--follow", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE) as following:
        assert following.stdout
        assert json.loads(following.stdout.readline())["record_id"] == "r0"
        sqlite_store.keep([accepted(1)])
        assert json.loads(following.stdout.readline())["record_id"] == "r1"
        following.kill()


def test_where_there_is_a_store_it_is_read_instead_of_the_topics(tmp_path: Path, sqlite_store: Stored):
    rejected = consistency_rejection(1, "t", FINDING)
    sqlite_store.keep([accepted(0), rejected, abstained(2, source="b"), accepted(3)])
    (tmp_path / "assay.toml").write_text(f"[store]\nurl = '{sqlite_store.url}'\n")
    ran = assay("verdicts", "--outcome", "reject", "--outcome", "abstain", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "REJECT   r1          0.50  tests / m  by consistency",
        "         says:   “It was blue.”",
        "         fault:  The colour.",
        "         source: “It was red.”",
        "ABSTAIN  r2             -  b / m  by consistency",
        "         Could not decide.",
    ]
    assert ran.stderr.splitlines() == ["2 verdicts in the store"]
    ran = assay("verdicts", "--json", "--source", "tests", "--id", "r3", "--id", rejected.id, cwd=tmp_path)
    assert [Verdict.model_validate_json(line) for line in ran.stdout.splitlines()] == [rejected, accepted(3)]


def test_the_selection_is_by_outcome_source_model_checker_and_record(tmp_path: Path, embedded_place: Place):
    last = accepted(5, checker="retrieval")
    _put(
        embedded_place,
        accepted(0),
        rejection(1, "t", source="a"),
        abstained(2, source="b"),
        rejection(3, "t", model="n", source="b"),
        abstained(4, checker="none"),
        last,
    )

    def found(*options: str) -> list[str]:
        ran = assay("verdicts", "--json", *options, cwd=tmp_path, **servers(embedded_place))
        assert ran.returncode == 0, ran.stderr
        return [json.loads(line)["record_id"] for line in ran.stdout.splitlines()]

    assert found() == ["r0", "r1", "r2", "r3", "r4", "r5"]
    assert found("--outcome", "reject", "--outcome", "abstain") == ["r1", "r2", "r3", "r4"]
    assert found("--source", "a", "--source", "b", "--model", "m") == ["r1", "r2"]
    assert found("--checker", "none", "--checker", "retrieval") == ["r4", "r5"]
    assert found("--id", "r3", "--id", last.id) == ["r3", "r5"]
    assert found("--model", "nobody") == []
    none = assay("verdicts", "--model", "nobody", cwd=tmp_path, **servers(embedded_place))
    assert (none.returncode, none.stdout) == (0, "")
    assert none.stderr.startswith("none of 6 verdicts on ")


def test_one_verdict_is_shown_with_all_its_evidence_and_cannot_act_on_the_terminal(
    tmp_path: Path, embedded_place: Place
):
    hostile = "\x1b[2J\x1b]0;owned\x07 \u202ereversed " + "long words " * 80
    finding = FINDING.model_copy(update={"text": hostile, "reason": hostile, "passage": hostile})
    verdict = consistency_rejection(1, "t", *[finding] * 5, FINDING)
    _put(embedded_place, verdict, accepted(2))
    ran = assay("verdicts", "--id", verdict.id, cwd=tmp_path, **servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    assert "         and 3 more\n" in ran.stdout
    shown = json.loads(re.sub(r"\n +", " ", ran.stdout[ran.stdout.index("{") :]))
    assert shown["id"] == verdict.id
    assert shown["evidence"]["sentences"][5] == FINDING.model_dump(mode="json")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", ran.stdout)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    # An acceptance, too, says on what it rests.
    other = assay("verdicts", "--id", "r2", cwd=tmp_path, **servers(embedded_place))
    assert "         Record 2 is fine.\n" in other.stdout
    missing = assay("verdicts", "--id", "r2", "--id", "r99", cwd=tmp_path, **servers(embedded_place))
    assert missing.returncode == 3
    assert missing.stderr.endswith("Error: no such verdict or record: r99\n")


def _put(place: Place, *verdicts: Verdict) -> None:
    """A second apart: their topics are merged by time."""
    begin = int(DAY.timestamp() * 1000)
    asyncio.run(put_verdicts(place.servers, place.checked().topics, verdicts, begin_ms=begin, every_ms=1000))


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
    found = consistency_rejection(1, topics.outputs, FINDING)
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
    _put_alerts(embedded_place, [*map(to_json, alerts), to_json(series_anew(1)), to_json(alerts[0]), b"{", None])
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


def test_following_shows_new_ones_until_ctrl_c(tmp_path: Path, place: Place):
    place.prepare(place.settings(partitions=2))
    _put_alerts(place, [to_json(alert(1))])
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
            _put_alerts(place, [to_json(alert(1)), to_json(alert(2))])
            assert json.loads(process.stdout.readline())["id"] == "alert-2"
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
            assert process.stdout.read() == ""
            assert process.stderr.read() == "interrupted\n"
        finally:
            late.cancel()
            process.kill()


def _put_alerts(place: Place, values: Any) -> None:
    asyncio.run(put(place.servers, place.checked().topics.alerts, values))
