"""Questions to models for a verdict, looked up in their recordings for the page."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import orjson

from schemas import Verdict
from store.redaction import Redaction
from web.exchanges import Exchange, exchange_of

_MOST_BYTES = 256 * 1024 * 1024
"""The end of a recording that is looked through, a second of work at first; later only what was added."""
_SHOWN = 50
"""Maximum of a verdict's questions."""


class _Recording:
    """A file, and where in it each question stands."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_to = 0
        self._places: defaultdict[str, deque[tuple[int, int]]] = defaultdict(lambda: deque(maxlen=_SHOWN))

    def lines(self, digests: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """The lines of these questions, by digest."""
        try:
            with self._path.open("rb") as file:
                self._look_through(file)
                return {digest: [_line(file, place) for place in self._places.get(digest, ())] for digest in digests}
        except OSError:
            # It is on another machine, or moved away.
            return {}

    def _look_through(self, file: Any) -> None:
        end = file.seek(0, 2)
        if end < self._read_to:
            self._read_to = 0
            self._places.clear()
        begin = max(self._read_to, end - _MOST_BYTES)
        file.seek(begin)
        if begin > self._read_to:
            begin += len(file.readline())
        for line in file:
            if not line.endswith(b"\n"):
                break
            try:
                digest = orjson.loads(line).get("digest")
            except (orjson.JSONDecodeError, AttributeError):
                digest = None
            if digest is not None:
                self._places[digest].append((begin, len(line)))
            begin += len(line)
        self._read_to = begin


class RecordedExchanges:
    """The exchanges of verdicts, blotted out as the store's texts are."""

    def __init__(self, files: Collection[Path], redaction: Redaction) -> None:
        self._recordings = [_Recording(path) for path in dict.fromkeys(files)]
        self._redaction = redaction
        self._turn = asyncio.Lock()

    async def of(self, verdict: Verdict) -> Sequence[Exchange]:
        """The exchanges of a verdict, in the order in which they were asked for."""
        async with self._turn:
            return await asyncio.to_thread(self._found, verdict.exchanges[:_SHOWN])

    def _found(self, digests: Sequence[str]) -> list[Exchange]:
        found = [recording.lines(digests) for recording in self._recordings]
        exchanges = []
        for digest in digests:
            lines = [line for recording in found for line in recording.get(digest, ())]
            # How a request ended is told by its exchanges, where an endpoint was asked.
            told = [line for line in lines if line["type"] == "exchange"] or lines[-1:]
            exchanges += [self._blotted(exchange_of(line)) for line in told]
        return exchanges[:_SHOWN]

    def _blotted(self, exchange: Exchange) -> Exchange:
        text = self._redaction.text
        return exchange._replace(
            messages=tuple((role, text(said)) for role, said in exchange.messages), reply=text(exchange.reply)
        )


def _line(file: Any, place: tuple[int, int]) -> dict[str, Any]:
    begin, length = place
    file.seek(begin)
    line: dict[str, Any] = orjson.loads(file.read(length))
    return line
