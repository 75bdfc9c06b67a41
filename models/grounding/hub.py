"""Models of the Hugging Face hub: downloaded once, kept in its cache, and used without a network after that."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from models.model_loading import ModelUnusable, without_bars
from models.wording import first_line

_CONFIGURATION = (
    *("config.json", "tokenizer*", "special_tokens_map.json", "added_tokens.json", "merges.txt"),
    *("spiece.model", "spm.model", "vocab.*", "README.md"),
)
_TOKENIZERS = ("tokenizer.json", "spiece.model", "spm.model", "vocab.txt", "vocab.json")
"""One of them is there, whatever the kind of tokenizer."""
_WEIGHTS = ("model*.safetensors", "model.safetensors.index.json")
"""Never pickled ones: those are programs."""

_NON_COMMERCIAL = re.compile(r"(^|[-_ ])nc([-_ ]|$)|non.?commercial|research", re.IGNORECASE)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """Files of a repository, or a folder on this machine."""

    repository: str
    """Its name on the hub, or a path."""
    revision: str | None
    """The commit; None for what is current when it is downloaded."""
    weights: bool = True
    """False if the weights are not needed."""
    files: tuple[str, ...] | None = None
    """The files that are needed, in place of configuration, tokenizer and weights."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Names of the files, with wildcards."""
        return self.files or (*_CONFIGURATION, *(_WEIGHTS if self.weights else ()))

    @property
    def label(self) -> str:
        """Its name with the beginning of its commit, if that is fixed."""
        return self.repository if self.revision is None else f"{self.repository}@{self.revision[:12]}"


def fetched(source: Source, say: Say) -> Path:
    """The folder of its files, downloaded if they are not kept yet: with a bar on a terminal, and their licence said.

    Raises ModelUnusable if they cannot be downloaded.
    """
    if kept := kept_folder(source):
        return kept
    from huggingface_hub import snapshot_download

    say(f"downloading {source.label} from the Hugging Face hub")
    try:
        folder = Path(
            snapshot_download(
                source.repository, revision=source.revision, allow_patterns=list(source.patterns), tqdm_class=_bar()
            )
        )
    except Exception as error:
        raise ModelUnusable(
            f"{source.repository!r} is no folder and cannot be downloaded from the Hugging Face hub "
            f"({type(error).__name__}: {first_line(error)}); on a machine without a way there, copy the hub's cache of "
            "one that has it, and set HF_HOME to the copy"
        ) from error
    if fault := _lacks(source, folder):
        raise ModelUnusable(f"{source.repository!r} has no {fault} on the Hugging Face hub")
    say(licence_notice(source.repository, folder))
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
    return None if _lacks(source, folder) else folder


def licence_notice(repository: str, folder: Path) -> str:
    """One sentence on the licence that the model's card names."""
    from huggingface_hub import ModelCard

    card, licence = folder / "README.md", None
    if card.is_file():
        data = ModelCard.load(card, ignore_metadata_errors=True).data
        licence = data.license_name if data.license in {None, "other"} else data.license
    if licence is None:
        return f"{repository} names no licence; ask its authors before you use it"
    notice = f"{repository} is under the licence {licence}"
    return f"{notice}, which does not allow commercial use" if _NON_COMMERCIAL.search(str(licence)) else notice


def _lacks(source: Source, folder: Path) -> str | None:
    """The first file missing of those that no model is without."""
    if source.files is not None:
        return next((name for name in source.files if not (folder / name).is_file()), None)
    if not (folder / "config.json").is_file():
        return "config.json"
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        return "tokenizer"
    if not source.weights or (folder / "model.safetensors").is_file():
        return None
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return "model.safetensors (pickled weights are not loaded: they may hold programs)"
    shards = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
    return next((name for name in shards if not (folder / name).is_file()), None)


def _bar() -> type:
    """The bar of a download: on standard error, only if it is a terminal.

    The hub's own bars are switched off for the process, since they tear logs and other bars.
    """
    from tqdm.auto import tqdm

    class DownloadBar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: object, **options: object) -> None:
            options["disable"] = None
            super().__init__(*arguments, **options)

    return DownloadBar
