"""Where an audit may write: folders and collections with names of their own, gone when it ends."""

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checkers.retrieval.audit.stores.address import Address
from checkers.retrieval.audit.stores.store import StoreFailed

PREFIX = "assay-audit-"
"""What the name of each begins with."""


def scratch_name() -> str:
    """A name that no collection has."""
    return f"{PREFIX}{uuid.uuid4().hex[:16]}"


@contextmanager
def scratch_folder(address: Address, inside: Path) -> Iterator[Path]:
    """An empty folder in `inside`, removed with all that is in it when the context ends.

    Raises:
        StoreFailed: `inside` is no folder, or nothing can be written there.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=inside))
    except OSError as error:
        raise StoreFailed(f"{address.shown}: no folder can be made in {inside}: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
