"""Metrics bounded in labels, and logs whose lines are JSON and hold no record's text."""

import json
import subprocess
import sys

from prometheus_client import CollectorRegistry, generate_latest

from agents.judge import JudgeMetrics
from models.meter import EndedRequest
from schemas import Generation, Usage
from streams.metrics import StreamMetrics
from tests.support.checkers import Accept


async def test_subjects_beyond_the_maximum_are_counted_as_other():
    registry = CollectorRegistry()
    metrics = StreamMetrics(registry, max_subjects=2)
    for number in range(10):
        metrics.verdict("accept", await _verdict(source=f"s{number}", model="m"))
    metrics.verdict("accept", await _verdict(source="s1", model="m"))
    text = generate_latest(registry).decode()
    totals = [line for line in text.splitlines() if line.startswith("assay_verdicts_total")]
    assert len(totals) == 3 * 3
    assert 'assay_verdicts_total{checker="accept",model="other",outcome="accept",source="other"} 8.0' in totals
    assert 'assay_verdicts_total{checker="accept",model="m",outcome="accept",source="s1"} 2.0' in totals


async def test_what_comes_first_later_is_an_increase():
    registry = CollectorRegistry()
    StreamMetrics(registry, max_subjects=1).verdict("accept", await _verdict(source="s", model="m"))
    StreamMetrics(second := CollectorRegistry(), max_subjects=1).watch("accept", in_flight=int, held=int, paused=bool)
    labels = {"checker": "accept", "outcome": "reject", "source": "s", "model": "m"}
    assert registry.get_sample_value("assay_verdicts_total", labels) == 0
    assert second.get_sample_value("assay_dead_letters_total", {"agent": "accept", "reason": "not_json"}) == 0


async def test_what_checks_cost_is_counted_by_checker():
    registry = CollectorRegistry()
    metrics = StreamMetrics(registry, max_subjects=10, currency="CHF")
    usage = Usage(calls=2, cached=1, prompt_tokens=30, completion_tokens=4, seconds=0.5, cost=0.25)
    verdict = await _verdict(source="s", model="m")
    for each in (usage, usage, Usage(), Usage(calls=-1, cached=-1, prompt_tokens=-1, completion_tokens=-1, cost=-1.0)):
        metrics.verdict("accept", verdict.model_copy(update={"usage": each}))
    checker = {"checker": "accept"}
    assert registry.get_sample_value("assay_check_calls_total", checker) == 4
    assert registry.get_sample_value("assay_check_cache_hits_total", checker) == 2
    assert registry.get_sample_value("assay_check_tokens_total", checker | {"direction": "prompt"}) == 60
    assert registry.get_sample_value("assay_check_tokens_total", checker | {"direction": "completion"}) == 8
    assert registry.get_sample_value("assay_check_cost_total", checker | {"currency": "CHF"}) == 0.5


def test_a_record_that_two_checkers_take_is_one_record():
    registry = CollectorRegistry()
    metrics = StreamMetrics(registry, max_subjects=10)
    for checker, counts in (("first", ["generation"]), ("second", [])):
        metrics.record(checker, "generation", counts, number=3)
        metrics.record(checker, "generation", ())
    assert registry.get_sample_value("assay_records_total", {"kind": "generation"}) == 3
    for name in ("first", "second"):
        labels = {"checker": name, "kind": "generation"}
        assert registry.get_sample_value("assay_checker_records_total", labels) == 4


def test_what_a_judge_cost_is_counted_with_how_it_ended_and_work_apart_from_waiting():
    registry = CollectorRegistry()
    usage = Usage(calls=2, cached=1, prompt_tokens=30, completion_tokens=4, seconds=0.5, cost=0.25)
    request = EndedRequest(model="openai/x", task="consistency.summary", ending="failed", usage=usage, waited=7.5)
    JudgeMetrics(registry).ended(request)
    labels = {"judge": "openai/x", "task": "consistency.summary"}
    for name, more, value in (
        ("calls_total", {}, 2),
        ("cache_hits_total", {}, 1),
        ("tokens_total", {"direction": "prompt"}, 30),
        ("cost_total", {"currency": "USD"}, 0.25),
        ("duration_seconds_sum", {}, 0.5),
        ("waiting_seconds_total", {}, 7.5),
        *(("answers_total", {"outcome": each}, each == "failed") for each in ("answered", "failed", "unavailable")),
    ):
        assert registry.get_sample_value(f"assay_judge_{name}", labels | more) == value


async def _verdict(source: str, model: str):
    return await Accept().check(Generation(kind="generation", source=source, model=model, response="x"))


PROGRAM = """
import logging, threading, warnings
from streams.logs import configure_logs, log_uncaught

configure_logs()
log_uncaught()
for name in ("aiokafka", "aiokafka.client"):
    logging.getLogger(name).error("Unable connect to node with id %s", 1)
    logging.getLogger(name).error("Unable connect to node with id %s", 1)
logging.getLogger("aiokafka").error("Group Coordinator Request failed: %s", "[Error 15]")
warnings.warn("old")

def fail():
    raise ValueError("what a record said")

class Unfinished:
    def __del__(self):
        fail()

del (unfinished := [Unfinished()])[0]
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_what_nothing_catches_is_a_line_as_any_other_and_repeats_are_left_out():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert ended.returncode == 1
    events = [line["event"] for line in lines]
    assert events[:2] == ["Unable connect to node with id 1"] * 2
    assert "old" in events[2]
    assert events[3:] == ["uncaught exception"] * 3
    assert all(line["error"] == "ValueError" and line["where"][-1].endswith("in fail") for line in lines[3:])
    assert "what a record said" not in ended.stderr
