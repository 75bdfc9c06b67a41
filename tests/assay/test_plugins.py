"""A third party's checker has its place without another line, and a broken one takes nothing down with it."""

import re

import pytest

from assay.config import load_configuration
from tests.assay.running import SHOUTING, assay, install, install_shouting, installed


def test_it_has_its_section_and_its_variables(tmp_path, site):
    (tmp_path / "assay.toml").write_text("[shouting]\nmark = '?'\napi_key = 'sk-1'")
    ran = assay("config", "check", cwd=tmp_path, site=site, ASSAY_SHOUTING__DELAY="0.5")
    assert ran.returncode == 0
    assert re.search(r"^# checkers: consistency, .*\bshouting\b", ran.stdout, flags=re.MULTILINE)
    assert 'mark = "?"' in ran.stdout
    assert "# ASSAY_SHOUTING__DELAY" in ran.stdout
    assert "sk-1" not in ran.stdout


@pytest.mark.parametrize(
    ("source", "entry_point", "said"),
    [
        ("import no_such_package", "broken:PLUGIN", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("PLUGIN = 3", "broken:PLUGIN", "expected a Checker class or a CheckerPlugin, got int"),
        (SHOUTING.replace('name = "shouting"', 'name = "kafka"'), "broken:PLUGIN", "'kafka'"),
        (SHOUTING, "broken:PLUGIN", "another installed checker has the name 'shouting'"),
    ],
    ids=["import", "type", "taken section", "taken name"],
)
def test_a_broken_one_is_named_and_the_others_are_there(unconfigured, source, entry_point, said):
    site = unconfigured / "site"
    install_shouting(site)
    install(site, module="broken", source=source, entry_points={"zz_broken": entry_point})
    with installed(site):
        configuration = load_configuration()
    assert {"consistency", "labelling", "shouting"} <= set(configuration.checkers)
    assert "zz_broken" not in configuration.checkers
    (warning,) = configuration.warnings
    assert "a checker is skipped: entry point zz_broken = 'broken:PLUGIN' of broken" in warning
    assert said in warning
