"""Verdicts of the store for a person: what is kept, and then as it comes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from typing import Any

from assay.cli.front_door import NotFinished, WrongUse
from models.wording import counted
from schemas import Verdict

_LOOK_AGAIN_SECONDS = 0.5
"""The archivist writes twice a second where little comes."""


class StoreView:
    """Reads the store once."""

    def __init__(self, url: str, outcomes: Collection[str], takes: Callable[[Any], bool]) -> None:
        """`takes` is asked about each row of the list."""
        from store.opening import StoreAway, StoreError, open_store

        try:
            self._engine = open_store(url)
        except StoreError as error:
            raise WrongUse(str(error)) from None
        except StoreAway as error:
            raise NotFinished(str(error)) from None
        self._takes = takes
        self._outcomes = outcomes

    async def messages(self, *, follow: bool) -> AsyncGenerator[Verdict, None]:
        """Yield the verdicts that are kept, oldest first; with `follow` then those that come, without end."""
        from store.opening import StoreAway
        from store.reading import Reader, Wanted

        reader, wanted, seq = Reader(self._engine), Wanted(outcomes=self._outcomes), 0
        try:
            while (listed := reader.after(seq, wanted)) or follow:
                for each in listed:
                    seq = each.seq
                    # It may just have been deleted.
                    if self._takes(each) and (verdict := reader.verdict(each.id)) is not None:
                        yield verdict
                if not listed:
                    await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        except StoreAway as error:
            raise NotFinished(f"the store cannot be read: {error}") from None
        finally:
            reader.close()

    def summary(self, noun: str, shown: int) -> Iterator[str]:
        """The number that was shown."""
        yield f"{counted(shown, noun)} in {self._engine.url}"
