"""Models of the hub: downloaded once with their licence said, kept, and used without a network after that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from models.grounding.hub import Source, fetched, kept_folder
from models.model_loading import ModelUnusable
from tests.models.grounding.hub import COMMIT, HubServer, empty_cache, keep

NAME = "somebody/grounding"
CARD = b"---\nlicense: mit\n---\n# A judge\n"
FILES = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"x" * 5000, "README.md": CARD}
PICKLED = {"pytorch_model.bin": b"program", "training_args.bin": b"program"}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubServer]:
    """A hub with one repository, and an empty cache."""
    server = HubServer()
    server.repositories[NAME] = {**FILES, **PICKLED, "onnx/model.onnx": b"other"}
    with server.running() as address, empty_cache(tmp_path / "hub", address):
        yield server


@pytest.mark.parametrize("revision", [None, COMMIT])
def test_files_are_downloaded_once_and_their_licence_is_said_then(hub: HubServer, revision: str | None) -> None:
    source, said = Source(NAME, revision), list[str]()

    folder = fetched(source, said.append)
    asked = len(hub.asked)

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    at = "" if revision is None else f"@{revision[:12]}"
    assert said == [f"downloading {NAME}{at} from the Hugging Face hub", f"{NAME} is under the licence mit"]
    assert fetched(source, said.append) == folder
    assert len(said) == 2
    assert len(hub.asked) == asked


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json"])
def test_a_download_that_was_broken_off_is_finished(hub: HubServer, tmp_path: Path, lost: str) -> None:
    keep(tmp_path / "hub", NAME, {name: data for name, data in FILES.items() if name != lost})
    source = Source(NAME, None)
    assert kept_folder(source) is None

    folder = fetched(source, lambda _: None)

    assert (folder / lost).read_bytes() == FILES[lost]


def test_pickled_weights_are_not_loaded(hub: HubServer) -> None:
    hub.repositories[NAME] = {name: data for name, data in FILES.items() if name != "model.safetensors"} | PICKLED

    with pytest.raises(ModelUnusable, match=r"has no model\.safetensors .*pickled weights are not loaded"):
        fetched(Source(NAME, None), lambda _: None)


def test_a_hub_that_cannot_be_reached_is_told_with_what_to_do(tmp_path: Path) -> None:
    with (
        empty_cache(tmp_path, "http://127.0.0.1:9"),
        pytest.raises(ModelUnusable, match="copy the hub's cache of one that has it"),
    ):
        fetched(Source(NAME, None), lambda _: None)
