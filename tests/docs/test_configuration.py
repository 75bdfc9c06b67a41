"""docs/configuration.md is what the settings say."""

import re
from pathlib import Path

from assay.reference import document

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_document_is_up_to_date():
    assert document() == DOCUMENT.read_text("utf-8"), "`make docs` writes it anew"


def test_every_key_is_described():
    rows = re.findall(r"^\| `(\w+)`(?:<br>`\w+`)? \| .+ \| .+ \| (.*) \|$", document(), re.MULTILINE)
    assert len(rows) > 100
    assert [key for key, meaning in rows if len(meaning) < 10] == []
