"""The script that brings what the system tests need: nothing to do, nothing to do it with, and doing it."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "system" / "install-packages"
PROGRAMS = ("prometheus", "promtool", "prometheus-alertmanager", "amtool")
BROWSER = "chromium-headless-shell"
OTHERS = {"kcat": "kcat", "javac": "default-jdk-headless"}
"""Programs and the packages that bring them."""


class Machine:
    """A search path of its own, with all that is needed but `lacking`; the model is `fetched`, or is to be fetched."""

    def __init__(self, folder: Path, *lacking: str, fetched: bool = True) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "log"
        self.log.touch()
        self.policy = folder / "policy-rc.d"
        for name in ("sh", "env", "tee", "chmod", "rm", "dirname", "basename"):
            (self.bin / name).symlink_to(Path("/bin") / name if (Path("/bin") / name).exists() else f"/usr/bin/{name}")
        state = f'[ -x "{self.policy}" ] && state=forbidden || state=free'
        # Where the model is not there yet the installer of Python packages refuses to do without the network.
        refused = "" if fetched else 'case "$*" in *--offline*) exit 1;; esac; '
        programs = dict.fromkeys((*PROGRAMS, BROWSER, *OTHERS), "") | {
            "id": "echo 0",
            "uv": f'{refused}echo "uv $*" >> {self.log}',
            "apt-get": f'{state}; echo "apt-get $* $DEBIAN_FRONTEND services=$state" >> {self.log}',
        }
        for name in programs.keys() - {*lacking}:
            self.add(name, programs[name])

    def add(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self) -> subprocess.CompletedProcess[str]:
        given = {"PATH": str(self.bin), "BIN": str(self.bin), "POLICY_FILE": str(self.policy)}
        return subprocess.run([SCRIPT], env=given, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        """The calls of installers, but for the look whether the model is there."""
        return [line for line in self.log.read_text().splitlines() if "--offline" not in line]


def installed(packages: str) -> list[str]:
    """The calls that install packages and start no service of theirs."""
    install = f"apt-get install -qq --yes --no-install-recommends {packages} noninteractive"
    return ["apt-get update -qq  services=forbidden", f"{install} services=forbidden"]


BOTH = "prometheus prometheus-alertmanager"


def test_it_does_nothing_where_all_is_there(tmp_path: Path):
    machine = Machine(tmp_path)
    ran = machine.run()
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert machine.calls == []


@pytest.mark.parametrize(
    ("lacking", "packages"),
    [
        *[((program,), BOTH) for program in PROGRAMS],
        ((BROWSER,), BROWSER),
        *[((program,), package) for program, package in OTHERS.items()],
        (("amtool", BROWSER), f"{BOTH} {BROWSER}"),
    ],
)
def test_it_installs_what_is_missing_and_starts_no_service(tmp_path: Path, lacking: tuple[str, ...], packages: str):
    machine = Machine(tmp_path, *lacking)
    ran = machine.run()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert all(name in ran.stdout for name in lacking)
    assert machine.calls == installed(packages)
    assert not machine.policy.exists()


def test_it_fetches_the_model_where_it_is_not_and_only_what_is_pinned(tmp_path: Path):
    machine = Machine(tmp_path, fetched=False)
    ran = machine.run()
    assert (ran.returncode, ran.stderr) == (0, "")
    (call,) = machine.calls
    assert call.startswith("uv pip install ")
    assert all(said in call for said in ("--require-hashes", "/requirements.lock"))


def test_it_asks_for_root_where_it_is_not(tmp_path: Path):
    machine = Machine(tmp_path, "amtool")
    machine.add("id", "echo 1000")
    ran = machine.run()
    assert (ran.returncode, machine.calls) == (1, [])
    assert "root" in ran.stderr
    assert "sudo" in ran.stderr
    machine.add("sudo", f'echo "sudo $1" >> {machine.log}; exec "$@"')
    assert machine.run().returncode == 0
    assert [call for call in machine.calls if call.startswith("apt-get")] == installed(BOTH)
    assert machine.calls.count("sudo apt-get") == 1
    assert not machine.policy.exists()


def test_it_says_what_to_do_on_a_system_without_apt(tmp_path: Path):
    ran = Machine(tmp_path, "apt-get", "promtool", "amtool").run()
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "promtool amtool" in ran.stderr
    assert "by hand" in ran.stderr


def test_it_fails_where_the_installation_does(tmp_path: Path):
    machine = Machine(tmp_path, "amtool")
    machine.add("apt-get", "echo 'no such package' >&2; exit 100")
    ran = machine.run()
    assert ran.returncode == 100
    assert "no such package" in ran.stderr
    assert not machine.policy.exists()
