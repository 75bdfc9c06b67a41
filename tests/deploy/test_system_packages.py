"""The script that brings Prometheus and Alertmanager: nothing to do, nothing to do it with, and doing it."""

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
        for name in ("sh", "env", "tee", "chmod", "rm"):
            (self.bin / name).symlink_to(Path("/bin") / name if (Path("/bin") / name).exists() else f"/usr/bin/{name}")
        self.add("id", "echo 0")

    def add(self, name: str, script: str = "") -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def add_apt(self) -> None:
        state = f'[ -x "{self.policy}" ] && state=forbidden || state=free'
        self.add("apt-get", f'{state}; echo "apt-get $* $DEBIAN_FRONTEND services=$state" >> {self.log}')

    def run(self) -> subprocess.CompletedProcess[str]:
        given = {"PATH": str(self.bin), "POLICY_FILE": str(self.policy)}
        return subprocess.run([SCRIPT], env=given, capture_output=True, text=True, check=False, timeout=20)

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()


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
    plain, named = collected("--ignore-glob=tests/[!ds]*", "tests"), collected("tests/system")
    assert "tests/deploy/" in plain
    assert "tests/system/" not in plain
    assert "tests/system/" in named


def collected(*arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", *arguments]
    ran = subprocess.run(command, cwd=SCRIPT.parents[2], capture_output=True, text=True, check=True, timeout=60)
    return ran.stdout
