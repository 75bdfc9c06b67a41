"""What models answered, on disk as soon as it is there: a build that was broken off asks nothing twice."""

import errno
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import orjson

from schemas import Usage

FILE = "answers.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS costs (
    role TEXT PRIMARY KEY, calls INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL
) WITHOUT ROWID;
"""
_MOST_PARAMETERS = 500


class UnusableAnswers(ValueError):
    """The file of answers is none."""


class AnswerStore:
    """Answers by a digest of all that bears on them, and what they cost, by the role of the model.

    Each batch of answers is one transaction: after a crash of the process it is there as a whole or not at all.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            UnusableAnswers: it is not a file of answers, or another build has it open.
        """
        try:
            self._database = sqlite3.connect(path, timeout=0, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        except sqlite3.Error as error:
            raise UnusableAnswers(f"{path}: {error}; is another build at work there?") from None
        self._path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def find(self, keys: Sequence[str]) -> dict[str, Any]:
        """The answers there are to these keys; raises OSError if the file cannot be read."""
        found: dict[str, Any] = {}
        for first in range(0, len(keys), _MOST_PARAMETERS):
            some = keys[first : first + _MOST_PARAMETERS]
            marks = ",".join("?" * len(some))
            with self._faults():
                rows = self._database.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", some)  # noqa: S608
                found.update((key, orjson.loads(answer)) for key, answer in rows)
        return found

    def add(self, role: str, answers: Mapping[str, Any], usage: Usage) -> None:
        """Keep answers, JSON values by their keys, that cost `usage` together; raises OSError if that fails."""
        with self._faults(), self._database:
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?)",
                [(key, orjson.dumps(answer)) for key, answer in answers.items()],
            )
            self._database.execute(
                "INSERT INTO costs VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (role) DO UPDATE SET calls = calls + excluded.calls, "
                "prompt_tokens = prompt_tokens + excluded.prompt_tokens, "
                "completion_tokens = completion_tokens + excluded.completion_tokens, cost = cost + excluded.cost",
                (role, usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost),
            )

    def costs(self) -> dict[str, Usage]:
        """What all answers cost, by role, those of earlier processes included."""
        with self._faults():
            rows: list[tuple[str, int, int, int, float]] = self._database.execute(
                "SELECT * FROM costs ORDER BY role"
            ).fetchall()
        return {
            role: Usage(calls=calls, prompt_tokens=prompt, completion_tokens=completion, cost=cost)
            for role, calls, prompt, completion, cost in rows
        }

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """A full disk and the like, as what they are."""
        try:
            yield
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error), str(self._path)) from None
