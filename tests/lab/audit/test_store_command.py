"""`assay audit store` as users run it."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.common import NotFinished
from assay.cli.root import cli
from lab.audit.cases import Triplet, write_triplets
from tests.assay.running import assay
from tests.support.ports import free_port
from tests.support.stub_endpoint import StubEndpoint

TRIPLETS = [
    Triplet(
        "swap-1", "word_swap",
        "The nurse thanked the pilot.", "The pilot got thanks from the nurse.", "The pilot thanked the nurse.",
    ),
    Triplet(
        "swap-2", "word_swap",
        "A cat is chasing a small dog.", "A little dog runs, a cat right behind it.", "A dog is chasing a small cat.",
    ),
    Triplet(
        "number-1", "quantifier_substitution",
        "The bridge is 340 metres long.", "From end to end the bridge measures 340 m.", "The bridge is 340 km long.",
        "Tomatoes ripen late in the shade.",
    ),
    # Alike to the letter: a tie.
    Triplet("number-2", "quantifier_substitution", "Nine trains go.", "9 trains go.", "9 trains go."),
]  # fmt: skip


@pytest.fixture
def triplets(tmp_path: Path) -> Path:
    path = tmp_path / "triplets.jsonl"
    write_triplets(path, TRIPLETS)
    return path


def figures(ran: subprocess.CompletedProcess[str]) -> list[dict]:
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)["figures"]


def test_stores_are_audited_by_relation_and_metric(tmp_path, triplets, postgres):
    with postgres.database("audited") as url:
        hidden = url.replace("admin@", "admin:hush@")
        metrics = ("--metric", "cosine", "--metric", "euclidean", "--json")
        ran = assay("audit", "store", "faiss", "chroma", hidden, "--triplets", triplets, *metrics, cwd=tmp_path)
    found = figures(ran)
    assert [(row["subject"], row["metric"], row["relation"]) for row in found] == [
        (subject, metric, relation)
        for subject in ("faiss", "chroma", url)
        for metric in ("cosine", "euclidean")
        for relation in ("word_swap", "quantifier_substitution")
    ]
    # Of vectors of length 1 both metrics, and all stores, say the same.
    for row in found:
        like = next(one for one in found if one["relation"] == row["relation"])
        assert [row[name] for name in row if name.startswith(("triplet_", "control_", "unrelated_"))] == [
            like[name] for name in like if name.startswith(("triplet_", "control_", "unrelated_"))
        ]
    swap, number = found[:2]
    assert (swap["triplet_cases"], swap["triplet_right"], swap["control_right"]) == (2, 0, 2)
    assert swap["unrelated_cases"] == 0
    assert (number["triplet_cases"], number["triplet_ties"], number["unrelated_right"]) == (2, 1, 1)
    assert swap["positive_distance"] > swap["negative_distance"]
    assert "hush" not in ran.stdout + ran.stderr


WRONG = [
    (("faiss", "chroma"), ("--metric", "manhattan"), 2, "chroma does not compare by manhattan; it has cosine, eucl"),
    (("faiss",), ("--metric", "hamming"), 2, "'hamming' is not one of 'cosine', 'euclidean', 'manhattan'"),
    (("faiss",), ("--model", "no-model"), 2, "the sentence-transformers model 'no-model' cannot be loaded"),
    (("faiss",), ("--relation", "word_deletion"), 2, "there is no triplet to audit with"),
    ((f"postgresql://u:hush@127.0.0.1:{free_port()}/d",), (), 3, "Connection refused"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=[said for *_, said in WRONG])
def test_what_cannot_be_audited_is_told_in_a_line(unconfigured, triplets, wrong):
    urls, options, status, said = wrong
    (unconfigured / "no-model").mkdir()
    ran = CliRunner().invoke(cli, ["audit", "store", *urls, "--triplets", str(triplets), *options])
    assert (ran.exit_code, type(ran.exception)) == (status, SystemExit)
    assert said in ran.stderr
    assert ran.stdout == ""
    assert "hush" not in ran.stderr


def test_a_library_that_is_not_installed_is_told_with_its_extra(unconfigured, triplets, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    ran = CliRunner().invoke(cli, ["audit", "store", "faiss", "--triplets", str(triplets)])
    assert (ran.exit_code, type(ran.exception)) == (2, SystemExit)
    assert "pip install 'assay-lab[faiss]'" in ran.stderr


def refusing(answers):
    """A store that answers so often, and then refuses."""

    @contextmanager
    def open_store(*_, **__):
        left = iter(range(answers))

        def nearest(candidates, query):
            if next(left, None) is None:
                raise NotFinished("the key may not write")
            return 0

        yield nearest

    return open_store


def test_a_store_that_refuses_is_told_before_the_judge_is_paid(unconfigured, monkeypatch):
    monkeypatch.setattr("lab.audit.command.open_store", refusing(0))
    (unconfigured / "texts").write_text("The firm has 12 maps.\n")
    with StubEndpoint() as judge:
        given = {"BACKEND": "openai", "BASE_URL": judge.base_url, "MODEL": "m"}
        ran = CliRunner().invoke(
            cli,
            ["audit", "store", "faiss", "--texts", "texts"],
            env={f"ASSAY_JUDGE__{name}": value for name, value in given.items()},
        )
        assert (ran.exit_code, len(judge.requests)) == (3, 0)
    assert "the key may not write" in ran.stderr
