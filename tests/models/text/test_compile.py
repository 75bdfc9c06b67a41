"""Compiling WordNet's files."""

from pathlib import Path

import pytest

from models.text.compile import main
from models.text.lexicon import Lexicon

FILES = {
    "data.noun": [
        "  1 This line stands for the licence.",
        '00000001 03 n 01 beast 0 002 ~ 00000002 n 0000 ~ 00000003 n 0000 | a living thing; "the beasts sleep"',
        '00000002 03 n 02 Hound 0 hunting_dog 0 001 @ 00000001 n 0000 | a dog; "a hound sleeps"',
        "00000003 03 n 01 mouse 0 001 @ 00000001 n 0000 | a rodent",
    ],
    "data.verb": ['00000001 29 v 01 see 0 000 01 + 02 00 | perceive; "they saw the mouse"'],
    "data.adj": [
        '00000001 00 a 01 hot(p) 0 001 ! 00000002 a 0101 | of high temperature; "hot food"',
        "00000002 00 a 01 cold 0 002 ! 00000001 a 0101 & 00000003 a 0000 | of low temperature",
        "00000003 00 s 01 icy 0 001 & 00000002 a 0000 | very cold",
    ],
    "data.adv": ['00000001 02 r 01 fast 0 000 | quickly; "he saw it fast"'],
    "index.sense": [
        "beast%1:03:00:: 00000001 1 4",
        "hound%1:05:00:: 00000002 1 2",
        "hunting_dog%1:05:00:: 00000002 1 0",
        "mouse%1:05:00:: 00000003 1 1",
        "see%2:39:00:: 00000001 1 9",
        "hot%3:00:00:: 00000001 1 5",
        "cold%3:00:00:: 00000002 1 5",
        "icy%5:00:00:cold:00 00000003 1 0",
        "fast%4:02:00:: 00000001 1 3",
    ],
}


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    folder = tmp_path / "dict"
    folder.mkdir()
    for name, lines in FILES.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def test_a_compiled_dictionary_answers(dictionary: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "words.xz", tmp_path / "other.xz"
    main([str(dictionary), str(out)])
    words = Lexicon(out)
    assert words.relation("hounds", "beast") == "narrower"
    assert words.relation("hot", "cold") == "antonym"
    assert words.relation("icy", "hot") == "antonym"
    assert words.siblings("hound", "n") == ("mouse",)
    assert words.lemmas("mice") == {"mouse"}
    assert words.lemmas("saw") == {"see"}
    assert words.written("hound") == "Hound"
    assert words.senses("sees") == {"v": 9}
    assert not words.knows("hunting_dog")
    main([str(dictionary), str(other)])
    assert out.read_bytes() == other.read_bytes()


def test_a_missing_file_is_named(dictionary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dictionary / "data.adv").unlink()
    with pytest.raises(SystemExit, match="2"):
        main([str(dictionary), str(tmp_path / "out.xz")])
    assert "data.adv" in capsys.readouterr().err


def test_a_line_that_is_no_synset_is_named(dictionary: Path, tmp_path: Path) -> None:
    with (dictionary / "data.verb").open("a") as file:
        file.write("00000002 29 v oops\n")
    with pytest.raises(SystemExit, match=r"data\.verb, line 2"):
        main([str(dictionary), str(tmp_path / "out.xz")])


def test_another_file_is_no_lexicon(tmp_path: Path) -> None:
    path = tmp_path / "other.xz"
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match=r"other\.xz: not a lexicon"):
        Lexicon(path)
