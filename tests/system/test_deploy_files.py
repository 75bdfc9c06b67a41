"""The files that are deployed, read by the programs that it is for: promtool and amtool."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
ALERTMANAGER = ROOT / "deploy" / "alertmanager" / "alertmanager.yml"
DEPLOYING = ROOT / "docs" / "deploying.md"
SUBJECT = ("checker=consistency", "source=app", "model=m")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def said(ran: subprocess.CompletedProcess[str]) -> str:
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("file", ["prometheus.yml", "kubernetes.yml", "local.yml"])
def test_promtool_accepts_the_configuration_and_finds_the_rules(file):
    ran = run("promtool", "check", "config", PROMETHEUS / file)
    assert ran.returncode == 0, said(ran)
    assert f"{len(list((PROMETHEUS / 'rules').glob('*.yml')))} rule files found" in ran.stdout


@pytest.mark.parametrize("file", sorted((PROMETHEUS / "rules").glob("*.yml")), ids=lambda file: file.stem)
def test_promtool_accepts_the_rules_and_has_nothing_to_say_of_them(file):
    ran = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", file)
    assert ran.returncode == 0, said(ran)


@pytest.mark.parametrize("file", sorted((PROMETHEUS / "tests").glob("*.yml")), ids=lambda file: file.stem)
def test_the_rules_do_what_their_tests_say(file):
    ran = run("promtool", "test", "rules", file)
    assert ran.returncode == 0, said(ran)


def test_amtool_accepts_the_configuration():
    ran = run("amtool", "check-config", ALERTMANAGER)
    assert ran.returncode == 0, said(ran)
    assert " - 2 receivers\n" in ran.stdout


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (("alertname=AssayTrustDrop", "severity=page", *SUBJECT), "pager"),
        (("alertname=AssayNoWorker", "severity=page"), "pager"),
        (("alertname=AssaySuccessRateBelowBaseline", "severity=warning", *SUBJECT), "team"),
        (("alertname=AssayDeadLetters", "severity=warning", "agent=consistency"), "team"),
        (("alertname=SomebodyElses",), "team"),
    ],
)
def test_an_alert_goes_to_its_receiver(labels, receiver):
    ran = run(
        "amtool", "config", "routes", "test", f"--config.file={ALERTMANAGER}", f"--verify.receivers={receiver}", *labels
    )
    assert ran.returncode == 0, said(ran)


def test_the_receivers_that_the_documentation_shows_are_ones(tmp_path: Path):
    shown = re.search(r"```yaml\n(receivers:\n.*?)```", DEPLOYING.read_text("utf-8"), flags=re.DOTALL)[1]
    document = yaml.safe_load(ALERTMANAGER.read_text("utf-8"))
    document |= yaml.safe_load(shown)
    assert {each["name"] for each in document["receivers"]} == {"pager", "team"}
    file = tmp_path / "alertmanager.yml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    ran = run("amtool", "check-config", file)
    assert ran.returncode == 0, said(ran)
