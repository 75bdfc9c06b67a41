"""Verdicts of the store for a person: what is kept, and then as it comes."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator

from assay.kept import kept, oldest_first
from models.wording import counted
from schemas import Verdict

_LOOK_AGAIN_SECONDS = 0.5
"""The archivist writes twice a second where little comes."""


class StoreView:
    """Reads the store once."""

    def __init__(self, url: str, **wanted: Collection[str]) -> None:
        """`wanted`: see `store.reading.Wanted`."""
        self._url = url
        self._wanted = wanted

    async def messages(self, *, follow: bool) -> AsyncGenerator[Verdict, None]:
        """Yield the verdicts that are kept, oldest first; with `follow` then those that come, without end.

        Raises:
            Misconfigured: there is no store.
            StreamError: it does not answer.
        """
        seq = 0
        with kept(self._url) as reader:
            while True:
                for each in oldest_first(reader, seq, **self._wanted):
                    seq = each.seq
                    # It may just have been deleted.
                    if (verdict := reader.verdict(each.id)) is not None:
                        yield verdict
                if not follow:
                    return
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    def summary(self, noun: str, shown: int) -> Iterator[str]:
        """The number that was shown."""
        yield f"{counted(shown, noun)} in the store"
