"""The laboratory is a distribution of its own, of the service's version, and the service's has nothing of it."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]


def project(folder: str) -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))


def test_both_are_of_one_version_and_only_one_needs_the_other():
    service, laboratory = project(".")["project"], project("lab")["project"]
    assert service["version"] == laboratory["version"]
    assert f"assay[judges]=={service['version']}" in laboratory["dependencies"]
    extras = [one for some in service["optional-dependencies"].values() for one in some]
    assert not any("assay-lab" in one for one in [*service["dependencies"], *extras])


def test_the_services_wheel_has_no_laboratory():
    assert "lab" not in project(".")["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert not [one for one in distribution("assay").entry_points if one.value.startswith("lab.")]


def test_the_commands_come_with_the_laboratory():
    commands = {one.name for one in distribution("assay-lab").entry_points if one.group == "assay.commands"}
    assert commands == {"audit", "equivalence", "probes", "trust"}
