"""The older address of Azure OpenAI that docs/endpoints.md tells of can be loaded."""

import re
from pathlib import Path

from tests.assay.running import assay

GUIDE = (Path(__file__).parents[2] / "docs" / "endpoints.md").read_text("utf-8")


def test_the_older_address_of_azure_can_be_loaded_and_its_key_is_not_shown(tmp_path: Path):
    (address,) = re.findall(r'`base_url = "(\S+api-version\S+)"`', GUIDE)
    (headers,) = re.findall(r"`ASSAY_JUDGE__EXTRA_HEADERS='(.+)'`", GUIDE)
    (shown,) = re.findall(r"\n## Azure OpenAI\n.*?```toml\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "assay.toml").write_text(shown, "utf-8")
    key = {"ASSAY_JUDGE__EXTRA_HEADERS": headers.replace("…", "0123456789")}
    ran = assay("config", "check", cwd=tmp_path, ASSAY_JUDGE__BASE_URL=address, **key)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert address in ran.stdout
    assert "0123456789" not in ran.stdout
