"""docs/configuration.md is what the settings say, and every configuration that a document shows can be loaded."""

import re
from pathlib import Path

import pytest

from assay.config import load_configuration
from docs.configuration import document
from tests.support.webhook_target import SECRET

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SHOWN = {
    f"{path.name}-{number}": block
    for path in DOCUMENTS
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", path.read_text("utf-8"), re.DOTALL), start=1)
    if not block.startswith("# pyproject.toml")
}


def test_the_document_is_up_to_date():
    assert document() == (ROOT / "docs" / "configuration.md").read_text("utf-8"), "`make docs` writes it anew"


def test_every_key_is_described():
    rows = re.findall(r"^\| `(\w+)`(?:<br>`\w+`)? \| .+ \| .+ \| (.*) \|$", document(), re.MULTILINE)
    assert len(rows) > 50
    assert [key for key, meaning in rows if len(meaning) < 10] == []


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_can_be_loaded(name: str, unconfigured: Path, monkeypatch: pytest.MonkeyPatch):
    file = unconfigured / "assay.toml"
    file.write_text(SHOWN[name], "utf-8")
    if "[webhooks.tuning]" in SHOWN[name]:
        monkeypatch.setenv("ASSAY_WEBHOOKS__TUNING__SECRET", SECRET)
    if "[ui]" in SHOWN[name]:
        monkeypatch.setenv("ASSAY_UI__TOKEN", "0123456789abcdef")
    if "sasl_username" in SHOWN[name]:
        monkeypatch.setenv("ASSAY_KAFKA__SASL_PASSWORD", "secret")
    load_configuration(file)
