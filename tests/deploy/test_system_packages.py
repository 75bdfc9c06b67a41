"""The script that brings what the system tests need: nothing to do, nothing to do it with, and doing it."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "system" / "install-packages"
PROGRAMS = ("prometheus", "promtool", "prometheus-alertmanager", "amtool")


class Machine:
    """A search path of its own, with the programs that it is given."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "log"
        self.log.touch()
        self.policy = folder / "policy-rc.d"
        for name in ("sh", "env", "tee", "chmod", "rm", "dirname", "basename"):
            (self.bin / name).symlink_to(Path("/bin") / name if (Path("/bin") / name).exists() else f"/usr/bin/{name}")
        self.add("id", "echo 0")
        self.headers = folder / "python3.11"
        self.headers.mkdir()
        (self.headers / "Python.h").touch()
        self.add("python", f"echo {self.headers}")
        self.add("g++")
        self.add_stores(built=True)

    def add(self, name: str, script: str = "") -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def add_apt(self) -> None:
        state = f'[ -x "{self.policy}" ] && state=forbidden || state=free'
        self.add("apt-get", f'{state}; echo "apt-get $* $DEBIAN_FRONTEND services=$state" >> {self.log}')

    def add_stores(self, *, built: bool) -> None:
        """The installer of Python packages; where the stores are not built yet it refuses to do without a build."""
        refused = "" if built else 'case "$*" in *--no-build*) exit 1;; esac; '
        self.add("uv", f'{refused}echo "uv $*" >> {self.log}')

    def run(self) -> subprocess.CompletedProcess[str]:
        given = {"PATH": str(self.bin), "BIN": str(self.bin), "POLICY_FILE": str(self.policy)}
        return subprocess.run([SCRIPT], env=given, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        """What was called, but for the look whether the stores are built."""
        return [line for line in self.log.read_text().splitlines() if "--no-build" not in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


_INSTALL = "apt-get install -qq --yes --no-install-recommends prometheus prometheus-alertmanager noninteractive"
INSTALLED = ["apt-get update -qq  services=forbidden", f"{_INSTALL} services=forbidden"]


def test_it_does_nothing_where_all_are_there(machine):
    for name in PROGRAMS:
        machine.add(name)
    machine.add_apt()
    ran = machine.run()
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert machine.calls == []


@pytest.mark.parametrize("missing", PROGRAMS)
def test_it_installs_both_where_one_is_missing_and_starts_no_service(machine, missing):
    for name in set(PROGRAMS) - {missing}:
        machine.add(name)
    machine.add_apt()
    ran = machine.run()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert missing in ran.stdout
    assert machine.calls == INSTALLED
    assert not machine.policy.exists()


def test_it_builds_the_stores_where_they_are_not_and_only_from_what_is_pinned(machine):
    for name in PROGRAMS:
        machine.add(name)
    machine.add_apt()
    machine.add_stores(built=False)
    ran = machine.run()
    assert (ran.returncode, ran.stderr) == (0, "")
    (call,) = machine.calls
    assert call.startswith("uv pip install ")
    assert "--require-hashes" in call
    assert "/requirements.lock" in call
    assert "/build-requirements.lock" in call


@pytest.mark.parametrize(
    ("missing", "packages"), [("compiler", "g++"), ("headers", "python3.11-dev"), ("both", "g++ python3.11-dev")]
)
def test_it_installs_what_a_build_needs(machine, missing, packages):
    for name in PROGRAMS:
        machine.add(name)
    machine.add_apt()
    machine.add_stores(built=False)
    if missing != "headers":
        (machine.bin / "g++").unlink()
    if missing != "compiler":
        (machine.headers / "Python.h").unlink()
    ran = machine.run()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [call for call in machine.calls if call.startswith("apt-get install")] == [
        f"apt-get install -qq --yes --no-install-recommends {packages} noninteractive services=forbidden"
    ]
    assert machine.calls[-1].startswith("uv ")


def test_it_needs_no_compiler_where_the_stores_are_built(machine):
    for name in PROGRAMS:
        machine.add(name)
    (machine.bin / "g++").unlink()
    (machine.headers / "Python.h").unlink()
    assert machine.run().returncode == 0
    assert machine.calls == []


def test_it_leaves_a_policy_on_services_as_it_was(machine):
    machine.add_apt()
    machine.policy.write_text("#!/bin/sh\nexit 101\n")
    machine.policy.chmod(0o755)
    assert machine.run().returncode == 0
    assert machine.policy.read_text() == "#!/bin/sh\nexit 101\n"


def test_it_asks_for_root_where_it_is_not(machine):
    machine.add_apt()
    machine.add("id", "echo 1000")
    ran = machine.run()
    assert ran.returncode == 1
    assert "root" in ran.stderr
    assert "sudo" in ran.stderr
    assert machine.calls == []
    machine.add("sudo", f'echo "sudo $1" >> {machine.log}; exec "$@"')
    assert machine.run().returncode == 0
    assert [call for call in machine.calls if call.startswith("apt-get")] == INSTALLED
    assert machine.calls.count("sudo apt-get") == 1
    assert not machine.policy.exists()


def test_it_says_what_to_do_on_a_system_without_apt(machine):
    machine.add("prometheus")
    ran = machine.run()
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "promtool prometheus-alertmanager amtool" in ran.stderr
    assert "by hand" in ran.stderr


def test_it_fails_where_the_installation_does(machine):
    machine.add("apt-get", "echo 'no such package' >&2; exit 100")
    ran = machine.run()
    assert ran.returncode == 100
    assert "no such package" in ran.stderr
    assert not machine.policy.exists()


def test_plain_pytest_leaves_the_system_tests_out_and_naming_them_takes_them():
    # Without the other folders, whose imports take seconds.
    assert (
        collected("--ignore-glob=tests/[!s]*", "--ignore-glob=tests/s[!y]*", "tests")
        == pytest.ExitCode.NO_TESTS_COLLECTED
    )
    assert collected("tests/system") == pytest.ExitCode.OK


def collected(*arguments: str) -> int:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", *arguments]
    return subprocess.run(command, cwd=SCRIPT.parents[2], capture_output=True, check=False).returncode
