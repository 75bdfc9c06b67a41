"""`assay audit store` as users run it."""

import csv
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.root import cli
from lab.audit.cases import AuditFailed
from lab.audit.stores.store import open_store
from lab.triplets import Triplet, write_triplets
from tests.assay.running import assay, environment
from tests.support.ports import free_port
from tests.support.store_servers import chroma
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until

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


def test_stores_are_audited_by_relation_and_metric(tmp_path, triplets, database):
    folder = tmp_path / "here"
    folder.mkdir()
    url, hidden = database, database.replace("admin@", "admin:hush@")
    addresses = ("faiss:", "chroma:", f"qdrant:{folder}", f"postgresql+hnsw:{hidden.partition(':')[2]}")
    options = ("--metric", "cosine", "--metric", "euclidean", "--csv", "out.csv", "--json")
    ran = assay("audit", "store", *addresses, "--triplets", triplets, *options, cwd=tmp_path)
    found = figures(ran)
    shown = ["faiss:flat", "chroma", f"qdrant:{folder}", url.replace("postgresql:", "postgresql+hnsw:")]
    assert [(row["subject"], row["metric"], row["relation"]) for row in found] == [
        (subject, metric, relation)
        for subject in shown
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
    with (tmp_path / "out.csv").open() as stream:
        assert [row["subject"] for row in csv.DictReader(stream)] == [row["subject"] for row in found]
    assert "hush" not in ran.stdout + ran.stderr + (tmp_path / "out.csv").read_text()
    assert list(folder.iterdir()) == []


WRONG = [
    (("faiss:", "chroma:"), ("--metric", "manhattan"), 2, "chroma does not compare by manhattan; it has cosine, eucl"),
    (("faiss:",), ("--metric", "hamming"), 2, "'hamming' is not one of 'cosine', 'euclidean', 'manhattan'"),
    (("faiss:",), ("--model", "no-model"), 2, "the sentence-transformers model 'no-model' cannot be loaded"),
    (("faiss:",), ("--relation", "word_deletion"), 2, "there is no triplet to audit with"),
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
    monkeypatch.delitem(sys.modules, "lab.audit.stores.faiss", raising=False)
    ran = CliRunner().invoke(cli, ["audit", "store", "faiss:", "--triplets", str(triplets)])
    assert (ran.exit_code, type(ran.exception)) == (2, SystemExit)
    assert "pip install 'assay[faiss]'" in ran.stderr


class Refusing:
    """Lets everybody in, and nobody make a collection."""

    def nearest(self, candidates, query):
        raise AuditFailed("the key may not write")


def test_a_store_that_refuses_is_told_before_the_judge_is_paid(unconfigured, monkeypatch):
    @contextmanager
    def open_store(*_, **__):
        yield Refusing()

    monkeypatch.setattr("lab.audit.runs.open_store", open_store)
    (unconfigured / "texts").write_text("The firm has 12 maps.\n")
    with StubEndpoint() as judge:
        ran = CliRunner().invoke(
            cli,
            ["audit", "store", "faiss:", "--texts", "texts"],
            env={
                "ASSAY_JUDGE__BACKEND": "openai",
                "ASSAY_JUDGE__BASE_URL": judge.base_url,
                "ASSAY_JUDGE__MODEL": "m",
            },
        )
        assert (ran.exit_code, len(judge.requests)) == (3, 0)
    assert "the key may not write" in ran.stderr


def test_figures_of_stores_outlive_a_store_that_fails(unconfigured, triplets, monkeypatch):
    class Leaving(Refusing):
        def nearest(self, candidates, query):
            # Before any work is done, a store is asked about a single vector.
            return 0 if len(candidates) == 1 else super().nearest(candidates, query)

    @contextmanager
    def opened(address, **options):
        with open_store(address, **options) as store:
            yield Leaving() if address.index == "hnsw" else store

    monkeypatch.setattr("lab.audit.runs.open_store", opened)
    ran = CliRunner().invoke(cli, ["audit", "store", "faiss:flat", "faiss:hnsw", "--triplets", str(triplets), "--json"])
    assert ran.exit_code == 3
    assert "the key may not write" in ran.stderr
    assert {row["subject"] for row in json.loads(ran.stdout)["figures"]} == {"faiss:flat"}


def filled(client):
    """Collections with something in them: that of the first look at the store has nothing, and is gone at once."""
    from chromadb.errors import ChromaError

    try:
        return [
            collection
            for collection in client.list_collections()
            if collection.name.startswith("assay-audit-") and collection.count()
        ]
    except ChromaError:
        return []


def test_a_program_that_is_ended_leaves_nothing_in_a_server(tmp_path, chroma_port):
    many = tmp_path / "many.jsonl"
    write_triplets(many, TRIPLETS[:2] * 2000)
    client = chroma(chroma_port)
    url = f"chroma+http://127.0.0.1:{chroma_port}"
    program = subprocess.Popen(
        [sys.executable, "-m", "assay", "audit", "store", url, "--triplets", str(many)],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: filled(client) or program.poll() is not None)
        assert program.poll() is None
        program.send_signal(signal.SIGTERM)
        _, told = program.communicate()
        assert program.returncode == 130
        assert told.rstrip().endswith("interrupted")
        assert "Traceback" not in told
        assert [collection.name for collection in client.list_collections()] == ["the-users"]
    finally:
        program.kill()
        program.wait()
        client.close()
