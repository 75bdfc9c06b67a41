"""The documents lead to each other, and leave out nothing that they promise to list."""

import re
from pathlib import Path
from typing import get_args

import pytest

from schemas import read_record
from schemas.evidence import AbstentionCause
from tests.test_rooms import MAY_IMPORT

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("lab/docs/*.md")})


def _slugs(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (anchor and anchor not in _slugs(target)):
            broken.append(link)
    assert broken == []


def test_every_document_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    missing = [path.name for path in (ROOT / "docs").glob("*.md") if f"({path.name})" not in index]
    assert missing == ["README.md"]


def test_the_readmes_record_can_be_pasted_into_a_file():
    (shown,) = re.findall(r"^```json\n(.*?)\n```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert read_record(shown.encode(), max_bytes=2**20).misspelt == {}
    assert "\n" not in shown


def test_every_cause_of_an_abstention_is_explained():
    text = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    assert [cause for cause in get_args(AbstentionCause) if f"`{cause}`" not in text] == []


def test_contributing_explains_every_import_between_packages_and_names_files_that_there_are():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    explained = set(re.findall(r"^\| `(\w+)` → `(\w+)` \|", text, re.MULTILINE))
    assert explained == {
        (name, each) for name, others in MAY_IMPORT.items() for each in others if name not in {"assay", "lab"}
    }
    named = re.findall(r"`((?:{})/[\w/*.]+)`".format("|".join(MAY_IMPORT)), text)
    assert [path for path in named if not any(ROOT.glob(re.sub("METHOD|NAME", "*", path).rstrip("/")))] == []
