"""The program is there at once: what a command does not need it does not import."""

import re
import subprocess
import sys
from pathlib import Path

from tests.assay.running import assay, environment

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


def test_without_the_laboratory_its_commands_are_not_there(tmp_path):
    # A package's entry points are known by its installation: without it, none is found.
    without = (
        "import importlib.metadata as known; found = known.entry_points; "
        "known.entry_points = lambda **group: () if group.get('group') == 'assay.commands' else found(**group); "
    )
    ran = subprocess.run(
        [sys.executable, "-c", without + PROGRAM.strip(), "--help"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "worker" in ran.stdout
    assert not re.search(r"^  (audit|probes|trust) ", ran.stdout, flags=re.MULTILINE)


def test_the_installed_program_is_the_same(tmp_path):
    program = Path(sys.executable).with_name("assay")
    ran = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
