"""The documents lead to each other, are complete, and every configuration that one shows can be loaded."""

import re
from pathlib import Path
from typing import get_args

import pytest

from assay.config import load_configuration
from docs.configuration import document
from schemas import read_record
from schemas.evidence import AbstentionCause
from tests.deploy.metric_names import labels_by_series
from tests.support.webhook_target import SECRET
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


CONFIGURED = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SHOWN = {
    f"{path.name}-{number}": block
    for path in CONFIGURED
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


DOCS = Path(__file__).parent.parent.parent / "docs"
TEXT = "\n".join(path.read_text("utf-8") for path in sorted(DOCS.glob("*.md")))

# A histogram is named without what Prometheus appends for its parts.
EXPOSED = {
    re.sub(r"_(bucket|sum|count)$", "", name): labels - ({"le"} if name.endswith("_bucket") else set())
    for name, labels in labels_by_series().items()
}


def test_every_metric_is_documented():
    assert [name for name in EXPOSED if f"`{name}" not in TEXT] == []


def test_every_metric_that_is_documented_exists_with_its_labels():
    # Recorded series such as `subject:assay_success:ratio_rate1h` are Prometheus' own, and tested with its rules.
    named = re.findall(r"`(assay_\w+)(?:\{([\w,]*)\})?`", TEXT)
    assert [name for name, _ in named if name not in EXPOSED] == []
    assert [(name, labels) for name, labels in named if labels and set(labels.split(",")) != EXPOSED[name]] == []


PROMISES = (ROOT / "docs" / "security.md").read_text("utf-8").partition("## What is not")[0]


def test_every_promise_has_its_test():
    rows = [line for line in PROMISES.splitlines() if line.startswith("| ") and not line.startswith("| |")]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"\[`(test_\w+)`\]\(\.\./(tests/[\w/]+\.py)\)", row)
        assert named, row
        for test, file in named:
            assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file} has no {test}"
