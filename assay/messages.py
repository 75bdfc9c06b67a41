"""Messages of topics and verdicts of the store, for commands."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection, Iterator
from typing import TYPE_CHECKING, Any

import click

from assay.config import Misconfigured
from schemas import Verdict
from streams.errors import StreamError

if TYPE_CHECKING:
    from store.reading import Listed, Reader


def report_broker(event: str, *, servers: str, since: str, why: str | None = None) -> None:
    """Report on standard error that no broker answers a command that follows a topic, or that one answers again."""
    click.secho(f"{event} at {servers}, away since {since}{f': {why}' if why else ''}", err=True, fg="yellow")


async def stored_verdicts(url: str, *, follow: bool, **wanted: Collection[str]) -> AsyncGenerator[Verdict, None]:
    """Yield the verdicts of the store that are `wanted` (see `Wanted`), oldest first; with `follow` then new ones."""
    seq = 0
    with opened_store(url) as reader:
        while True:
            for each in oldest_first(reader, seq, **wanted):
                seq = each.seq
                # It may just have been deleted.
                if (verdict := reader.verdict(each.id)) is not None:
                    yield verdict
            if not follow:
                return
            # The archivist writes twice a second if there is little traffic.
            await asyncio.sleep(0.5)


@contextlib.contextmanager
def opened_store(url: str | None) -> "Iterator[Reader]":
    """A reader of the store; raises Misconfigured if none can be used, and StreamError if it does not answer."""
    if url is None:
        raise Misconfigured("this needs a store, and none is configured (store.url)")
    # Commands that read topics load no library of databases.
    from store.opening import StoreAway, StoreError, open_for_reading
    from store.reading import Reader

    try:
        with contextlib.closing(Reader(open_for_reading(url))) as reader:
            yield reader
    except StoreError as error:
        raise Misconfigured(str(error)) from None
    except StoreAway as error:
        raise StreamError(f"the store cannot be read: {error}") from None


def require_store(url: str) -> None:
    """Make sure that the archivist could write to the store; raises Misconfigured."""
    from store.opening import StoreError, require_writable

    try:
        require_writable(url)
    except StoreError as error:
        raise Misconfigured(str(error)) from None


def oldest_first(reader: "Reader", seq: int = 0, **wanted: Any) -> "Iterator[Listed]":
    """All verdicts that are `wanted` (see `Wanted`) after the one numbered `seq`."""
    from store.reading import Wanted

    while listed := reader.after(seq, Wanted(**wanted)):
        yield from listed
        seq = listed[-1].seq
