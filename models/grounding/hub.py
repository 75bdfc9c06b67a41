"""Models of the Hugging Face hub: downloaded once, kept in its cache, and used without a network after that."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from models.model_loading import ModelUnusable, without_bars
from models.wording import first_line

_FILES = (
    *("config.json", "tokenizer*", "special_tokens_map.json", "added_tokens.json", "merges.txt"),
    *("spiece.model", "spm.model", "vocab.*", "README.md", "model*.safetensors", "model.safetensors.index.json"),
)
"""Configuration, tokenizer, licence and weights; never pickled weights, which are programs."""
_TOKENIZERS = ("tokenizer.json", "spiece.model", "spm.model", "vocab.txt", "vocab.json")  # one of them is there

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """Files of a repository, or a folder on this machine."""

    repository: str
    """Its name on the hub, or a path."""
    revision: str | None
    """The commit; None for what is current when it is downloaded."""
    files: tuple[str, ...] = ()
    """The files that are needed; all of a model's if none is named."""


def fetched(source: Source, say: Say) -> Path:
    """The folder of its files, downloaded if they are not kept yet; `say` shows that, and their licence.

    Raises ModelUnusable if they cannot be downloaded.
    """
    if kept := kept_folder(source):
        return kept
    from huggingface_hub import ModelCard, snapshot_download

    at = f"@{source.revision[:12]}" if source.revision else ""
    say(f"downloading {source.repository}{at} from the Hugging Face hub")
    patterns = list(source.files or _FILES)
    try:
        folder = Path(snapshot_download(source.repository, revision=source.revision, allow_patterns=patterns))
    except Exception as error:
        raise ModelUnusable(
            f"{source.repository!r} is no folder and cannot be downloaded from the Hugging Face hub "
            f"({type(error).__name__}: {first_line(error)}); on a machine without a way there, copy the hub's cache of "
            "one that has it, and set HF_HOME to the copy"
        ) from error
    if missing := _missing(source, folder):
        raise ModelUnusable(
            f"{source.repository!r} has no {missing} on the Hugging Face hub (pickled weights are not loaded: they may "
            "hold programs)"
        )
    card = folder / "README.md"
    data = ModelCard.load(card, ignore_metadata_errors=True).data if card.is_file() else None
    licence = data and (data.license_name if data.license in {None, "other"} else data.license)
    named = f"is under the licence {licence}" if licence else "names no licence; ask its authors before you use it"
    say(f"{source.repository} {named}")
    return folder


def kept_folder(source: Source) -> Path | None:
    """The folder of its files, if all of them are on this machine."""
    folder = Path(source.repository)
    if folder.is_dir():
        return folder
    without_bars()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(source.repository, revision=source.revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    # The hub's library gives the folder of a download that was broken off as well.
    return None if _missing(source, folder) else folder


def _missing(source: Source, folder: Path) -> str | None:
    """The first file that is not there, of those that are needed."""
    index = folder / "model.safetensors.index.json"
    shards = json.loads(index.read_bytes())["weight_map"].values() if index.is_file() else ["model.safetensors"]
    needed = source.files or ("config.json", *sorted(set(shards)))
    if not source.files and not any((folder / name).is_file() for name in _TOKENIZERS):
        return "tokenizer"
    return next((name for name in needed if not (folder / name).is_file()), None)
