"""The store, opened to be read by a command."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay.config import Misconfigured
from streams.errors import StreamError

if TYPE_CHECKING:
    from store.reading import Listed, Reader


@contextlib.contextmanager
def kept(url: str) -> "Iterator[Reader]":
    """A reader for as long as the context lasts.

    Raises:
        Misconfigured: there is no store, or it cannot be used as it is configured.
        StreamError: it does not answer.
    """
    # Whoever reads topics loads no library of databases.
    from store.opening import StoreAway, StoreError, open_for_reading
    from store.reading import Reader

    try:
        with contextlib.closing(Reader(open_for_reading(url))) as reader:
            yield reader
    except StoreError as error:
        raise Misconfigured(str(error)) from None
    except StoreAway as error:
        raise StreamError(f"the store cannot be read: {error}") from None


def oldest_first(reader: "Reader", seq: int = 0, **wanted: Any) -> "Iterator[Listed]":
    """All verdicts that are `wanted`, see there, behind the one numbered `seq`."""
    from store.reading import Wanted

    while listed := reader.after(seq, Wanted(**wanted)):
        yield from listed
        seq = listed[-1].seq
