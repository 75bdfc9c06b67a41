"""Standard error of a worker is a log: whatever is written there is a line of JSON, and holds no record's text."""

import json
import subprocess
import sys

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
