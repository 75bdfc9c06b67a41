"""The program is there at once: what a command does not need it does not import."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.assay.running import assay, environment

HEAVY = {
    *("torch", "numpy", "scipy", "sklearn", "sentence_transformers", "openai", "httpx", "aiohttp"),
    *("faust", "aiokafka", "confluent_kafka", "rich", "uvloop", "sqlalchemy"),
}

PROGRAM = """
import sys
from assay.__main__ import main
try:
    main()
except SystemExit as ended:
    print("status", ended.code)
print("imported", *sys.modules)
"""


@pytest.mark.parametrize(
    "command", [["--help"], ["config", "check"], ["schemas", "export", "out"], ["check", "--help"]]
)
def test_quick_commands_import_nothing_heavy(tmp_path, command):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    *_, status, imported = ran.stdout.splitlines()
    assert status == "status 0"
    assert HEAVY & set(imported.split()) == set()


def test_every_command_of_the_contract_is_there_and_no_other(tmp_path):
    text = assay("--help", cwd=tmp_path).stdout
    commands = {line.split()[0] for line in text.partition("Commands:")[2].splitlines() if line.strip()}
    service = {"worker", "send", "replay", "verdicts", "alerts", "accounts", "label", "ui", "export", "topics"}
    of_the_lab = {"audit", "probes", "trust"}
    assert commands == service | {"demo", "check", "calibrate", "judge", "convert", "config", "schemas"} | of_the_lab


def test_the_installed_program_is_the_same(tmp_path):
    program = Path(sys.executable).with_name("assay")
    ran = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
