"""Every configuration that docs/endpoints.md shows can be loaded."""

import re
from pathlib import Path

import pytest

from tests.assay.running import assay

GUIDE = (Path(__file__).parents[2] / "docs" / "endpoints.md").read_text("utf-8")
SHOWN = {
    section.partition("\n")[0]: block
    for section in GUIDE.split("\n## ")[1:]
    for block in re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
}


def test_each_endpoint_has_one():
    assert list(SHOWN) == ["OpenAI", "Azure OpenAI", "vLLM", "llama.cpp", "Ollama", "Reasoning models"]
    assert len(SHOWN) == GUIDE.count("```toml")


@pytest.mark.parametrize("name", SHOWN)
def test_it_can_be_loaded(name: str, tmp_path: Path):
    (tmp_path / "assay.toml").write_text(SHOWN[name], "utf-8")
    ran = assay("config", "check", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_older_address_of_azure_can_be_loaded_too(tmp_path: Path):
    (address,) = re.findall(r'`base_url = "(\S+api-version\S+)"`', GUIDE)
    (headers,) = re.findall(r"`ASSAY_JUDGE__EXTRA_HEADERS='(.+)'`", GUIDE)
    (tmp_path / "assay.toml").write_text(SHOWN["Azure OpenAI"], "utf-8")
    key = {"ASSAY_JUDGE__EXTRA_HEADERS": headers.replace("…", "0123456789")}
    ran = assay("config", "check", cwd=tmp_path, ASSAY_JUDGE__BASE_URL=address, **key)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert address in ran.stdout
    assert "0123456789" not in ran.stdout
