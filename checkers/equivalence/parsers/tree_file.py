"""Trees in an SQLite file: what parsers take long for outlasts the process."""

import asyncio
import hashlib
import sqlite3
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import structlog

from checkers.equivalence.trees import Node, Tree, TreeFault, nodes

_LOG = structlog.get_logger(__name__)

_BUSY_SECONDS = 5.0
"""Another worker's writing takes milliseconds."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS trees (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    tree BLOB NOT NULL
)
"""
_PRUNING = """
DELETE FROM trees WHERE number IN (
    SELECT number FROM trees WHERE key != ? ORDER BY number LIMIT (SELECT max(1, count(*) / 10) FROM trees)
)
"""
"""The oldest go, a share of them: a file of few large trees loses few. What was just put stays."""


class TreeFile:
    """Trees by parser and sentence; belongs to one event loop, works on a thread of its own.

    A file that cannot be read or written is logged once, and then done without: it only saves time.
    """

    def __init__(self, path: Path, *, megabytes: int) -> None:
        self._path = path
        self._most_bytes = megabytes * 1_000_000
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tree-file")
        self._connection: sqlite3.Connection | None = None
        self._failing: set[str] = set()
        """What fails. Apart, since a full disk can be read: each success would have the next failure told anew."""

    async def get(self, parser: str, sentence: str) -> Tree | None:
        """The tree that this parser made of the sentence, if it is kept."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, parser, sentence)

    async def put(self, parser: str, tree: Tree) -> None:
        """Keep a tree."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._write, parser, tree)

    async def close(self) -> None:
        """Close the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._shut)
        self._thread.shutdown()

    def _read(self, parser: str, sentence: str) -> Tree | None:
        try:
            row = self._open().execute("SELECT tree FROM trees WHERE key = ?", (_key(parser, sentence),)).fetchone()
            found = None if row is None else _unpacked(row[0], sentence)
        except (sqlite3.Error, OSError, zlib.error, ValueError, TypeError, IndexError) as error:
            self._told("read", error)
            return None
        self._failing.discard("read")
        return found

    def _write(self, parser: str, tree: Tree) -> None:
        key = _key(parser, tree.sentence)
        try:
            connection = self._open()
            with connection:
                # What is there is a damaged entry, or another worker's tree of the same.
                connection.execute("INSERT OR REPLACE INTO trees (key, tree) VALUES (?, ?)", (key, _packed(tree)))
                if self._bytes(connection) > self._most_bytes:
                    connection.execute(_PRUNING, (key,))
        except (sqlite3.Error, OSError) as error:
            self._told("write", error)
        else:
            self._failing.discard("write")

    def _bytes(self, connection: sqlite3.Connection) -> int:
        """Bytes in use: pages that pruning freed are used again."""
        pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _SIZES)
        return int((pages - free) * size)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_SCHEMA)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _shut(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _told(self, doing: str, error: Exception) -> None:
        if not self._failing:
            # A fault of a tree may quote its words, and logs hold no texts.
            reason = str(error) if isinstance(error, sqlite3.Error | OSError) else "not a tree over the sentence"
            _LOG.error("tree_cache_failed", file=str(self._path), reason=reason)
        self._failing.add(doing)


_SIZES = ("page_count", "freelist_count", "page_size")


def _key(parser: str, sentence: str) -> bytes:
    return hashlib.blake2b(f"{parser}\n{sentence}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _packed(tree: Tree) -> bytes:
    tokens = [(start, len(token)) for start, token in zip(tree.starts, tree.tokens, strict=True)]
    return zlib.compress(orjson.dumps((tokens, [(one.label, one.start, one.end) for one in nodes(tree.root)])))


def _unpacked(data: bytes, sentence: str) -> Tree:
    """The tree again.

    Raises:
        ValueError: (also as TreeFault or JSON error) it is not over this sentence.
    """
    tokens, listed = orjson.loads(zlib.decompress(data))
    # Parents stand before their children, so that a node belongs to the last one that is still open around it.
    found: list[tuple[str, int, int, list[Any]]] = [(label, start, end, []) for label, start, end in listed]
    stack = found[:1]
    for one in found[1:]:
        while stack[-1][2] < one[2] or stack[-1][2] <= one[1]:
            stack.pop()
        stack[-1][3].append(one)
        stack.append(one)
    made: dict[int, Node] = {}
    for one in reversed(found):
        label, start, end, children = one
        made[id(one)] = Node(start, end, label, tuple(made[id(child)] for child in children))
    if not found:
        raise TreeFault("a tree without nodes")
    return Tree(
        sentence,
        tuple(sentence[start : start + length] for start, length in tokens),
        tuple(start for start, _ in tokens),
        made[id(found[0])],
    )
