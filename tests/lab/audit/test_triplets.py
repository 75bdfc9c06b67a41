"""Triplets as files hold them: what is written comes back, and what is wrong is named with its place."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.cli.common import CannotRun
from lab.audit.cases import Triplet, read_triplets, write_triplets
from lab.audit.relations import RELATIONS

ROW = {
    "id": "t-1",
    "relation": "word_swap",
    "base": "The cat sees the dog.",
    "positive": "The dog is seen by the cat.",
    "negative": "The dog sees the cat.",
}

texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


def lines(folder: Path, *rows: object) -> Path:
    """A file with a line for each row; bytes stand there as they are."""
    path = folder / "cases.jsonl"
    path.write_bytes(b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows))
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(
        st.builds(Triplet, texts, st.sampled_from(RELATIONS), texts, texts, texts, st.none() | texts),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_read(tmp_path: Path, triplets: list[Triplet]) -> None:
    path = tmp_path / "made.jsonl"
    write_triplets(path, triplets)
    assert list(read_triplets(path)) == triplets


def test_the_authors_columns_and_names_are_read_as_they_are(tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != "relation"}
    path = lines(tmp_path, {**row, "mr": "obj_sub", "unrelated_negative": "It rains.", "source_rating": None})
    (triplet,) = read_triplets(path)
    assert (triplet.relation, triplet.unrelated) == ("object_substitution", "It rains.")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (b"{", "2: not JSON"),
        (b'{"base": "\\ud800"}', "2: not JSON"),
        (b"[1]", "2: record: Input should be a dictionary"),
        (b'{"base": "' + b"x" * (1 << 20) + b'"}', "2: longer than 1048576 bytes"),
        ({**ROW, "relation": "synonyms"}, "2: relation: Input should be 'word_swap', "),
        ({"base": "a"}, "2: relation: Field required; positive: Field required; negative: "),
        ({**ROW, "negative": "  "}, "2: negative: String should match pattern"),
        ({**ROW, "positive": None}, "2: positive: Input should be a valid string"),
        ({**ROW, "id": True}, "2: id: Input should be a valid string"),
        ({**ROW, "unrelated": 3}, "2: unrelated: Input should be a valid string"),
    ],
)
def test_a_fault_is_told_with_line_and_field(tmp_path: Path, row: object, told: str) -> None:
    path = lines(tmp_path, ROW, row)
    reading = read_triplets(path)
    assert next(reading).id == "t-1"
    with pytest.raises(CannotRun) as caught:
        next(reading)
    assert str(caught.value).startswith(f"{path}:{told}")


def test_a_file_without_triplets_is_no_file_of_triplets(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="holds no triplet"):
        list(read_triplets(lines(tmp_path, b" ")))
    with pytest.raises(CannotRun, match="cannot be read: No such file"):
        list(read_triplets(tmp_path / "none.jsonl"))
    with pytest.raises(CannotRun, match="cannot be read: Is a directory"):
        list(read_triplets(tmp_path))
