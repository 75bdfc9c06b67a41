"""The program is there at once, and `assay demo` runs with nothing there, can be read, and ends."""

import json
import re
import subprocess
import sys

from checkers.plugin import own_checkers
from schemas.base import BUNDLED_ACCURACY
from tests.assay.running import ROOT, assay, environment

SAMPLES = [json.loads(line) for line in (ROOT / "examples" / "records.jsonl").read_text("utf-8").splitlines()]
KINDS = {kind for plugin in own_checkers() if plugin.stand_ins for kind in plugin.checker.kinds}
EXPLAINED = {
    "consistency": r"^REJECT .*\n +says: +“.+\n(.*\n)*? +fault: .+\n",
    "retrieval": r"^REJECT .*\n +query: +“.+\n(.*\n)*? +match: +“.+\n(.*\n)*? +fault: .+\n",
    "extraction, accepted": r"^ACCEPT .*\n(?: {9}.+\n)*? {9}replaced: .+ → .+\n(?: {9}.+\n)*? {9}asked: +“.+\n",
    "extraction, rejected": r"^REJECT .*\n(?: {9}.+\n)*? {9}asked: +“.+\n(?: {9}.+\n)*? {9}fault: +“.+\n",
    "a session": r"^REJECT +con-11 .*\n +says: +“A double room costs 112 euros a night.”\n"
    r" +fault: +it contradicts the answer con-01: “A double room costs 94 euros\n +a night.”\n",
    "equivalence": r"^REJECT .*\n(?: {9}.+\n)*? {9}phrases of .*sentence.*\n",
}


def test_it_shows_every_sample_and_ends_by_itself(tmp_path):
    # What is configured is for other commands: the demo needs no judge with a key.
    ran = assay("demo", cwd=tmp_path, ASSAY_JUDGE__BACKEND="nonsense", HTTPS_PROXY="http://127.0.0.1:1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    heads = re.findall(r"^(ACCEPT|REJECT|ABSTAIN) +(\S+)", ran.stdout, flags=re.MULTILINE)
    outcomes = {id_: outcome.lower() for outcome, id_ in heads}
    expected = {sample["id"]: sample["metadata"]["expected"] for sample in SAMPLES if sample["kind"] in KINDS}
    assert outcomes.keys() == expected.keys()
    # What anybody understands comes first and last, and what was not decided before the last.
    assert (heads[0], heads[-1]) == (("REJECT", "sup-02"), ("REJECT", "min-07"))
    abstained = [outcome for outcome, _ in heads].index("ABSTAIN")
    assert {outcome for outcome, _ in heads[abstained:-1]} == {"ABSTAIN"}
    wrong = {id_ for id_, outcome in outcomes.items() if outcome not in {"abstain", expected[id_]}}
    told = re.findall(r"^[A-Z]+ +(\S+) .*\n(?: {9}(?!mistake).+\n)* {9}mistake: ", ran.stdout, re.MULTILINE)
    assert set(told) == wrong
    assert re.search(rf"^  {len(wrong)} of the \d+ decisions are mistakes", ran.stdout, re.MULTILINE)
    assert re.search(rf"^  \d+ decided by the bundled judge, {BUNDLED_ACCURACY};", ran.stdout, re.MULTILINE)
    assert [id_ for id_, outcome in outcomes.items() if id_.startswith("con") and outcome != "accept"] == ["con-11"]
    for method, explained in EXPLAINED.items():
        assert re.search(explained, ran.stdout, re.MULTILINE), method
    assert f"{len(outcomes)} records in" in ran.stdout
    assert "assay check FILE" in ran.stdout
    assert "assay judge check" in ran.stdout
    assert "hhem-2.1" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""


HEAVY = {
    *("torch", "numpy", "scipy", "sklearn", "sentence_transformers", "openai", "httpx", "aiohttp"),
    *("faust", "aiokafka", "confluent_kafka", "rich", "uvloop", "sqlalchemy"),
}

PROGRAM = """
import sys
from assay.__main__ import main
for command in sys.argv[1:]:
    sys.argv = ["assay", *command.split()]
    try:
        main()
    except SystemExit as ended:
        print("status", ended.code)
print("imported", *sys.modules)
"""


def test_quick_commands_import_nothing_heavy(tmp_path):
    commands = ("--help", "config check", "schemas export out", "check --help")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *commands],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    *shown, imported = ran.stdout.splitlines()
    assert shown.count("status 0") == len(commands)
    assert HEAVY & set(imported.split()) == set()


SERVICE = {"worker", "send", "replay", "verdicts", "alerts", "accounts", "label", "ui", "export", "topics", "demo"}
SERVICE |= {"check", "calibrate", "convert", "config", "schemas", "judge", "recheck", "compare", "criteria", "failures"}


def test_every_command_of_the_contract_is_there_and_no_other(tmp_path):
    text = assay("--help", cwd=tmp_path).stdout
    commands = {line.split()[0] for line in text.partition("Commands:")[2].splitlines() if line.strip()}
    # The last four are of the distribution assay-lab.
    assert commands == SERVICE | {"audit", "equivalence", "probes", "trust"}
    for command in commands:
        ran = assay(command, "--help", cwd=tmp_path)
        assert (ran.returncode, ran.stdout.split()[:3]) == (0, ["Usage:", "assay", command])
