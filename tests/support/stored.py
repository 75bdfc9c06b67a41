"""A store to be filled, and its tables, read beside those who write to it."""

import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import orjson
from sqlalchemy import Engine, Table, func, select

from schemas import to_json
from store.opening import open_store
from store.reading import read_verdict
from store.redaction import Redaction
from store.tables import COUNTS, EVIDENCE, VERDICTS
from store.writing import Message, StoreWriter, TableEntry


class Stored:
    """Reads a store; opens it when it is first asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        self._engine = self._engine or open_store(self.url)
        return self._engine

    def keep(self, messages: Iterable[Message | dict[str, Any]]) -> None:
        """Write messages, or the fields of verdicts, as an archivist does."""
        writer = StoreWriter(self.engine, Redaction(()), cluster="kept")
        place = ("kept", 0)
        progress = writer.progress([place])
        entries = []
        for offset, each in enumerate(messages, progress[place]):
            data = orjson.dumps(each) if isinstance(each, dict) else to_json(each)
            entries.append(TableEntry(place, offset, data, read_verdict(data) if isinstance(each, dict) else each))
        writer.write(entries, progress)

    def rows(self, table: Table) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(select(table)).mappings()]

    def bodies(self, table: Table) -> list[Any]:
        """The messages of a table's rows."""
        return [orjson.loads(zlib.decompress(row["body"])) for row in self.rows(table)]

    def number(self, table: Table) -> int:
        with self.engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()

    def counts(self, table: Table = COUNTS) -> Counter[tuple[str, str, str, str]]:
        """By source, model, checker and outcome, as the hours or the days have them."""
        found: Counter[tuple[str, str, str, str]] = Counter()
        for row in self.rows(table):
            found[row["source"], row["model"], row["checker"], row["outcome"]] += row["verdicts"]
        return found

    def recounted(self) -> Counter[tuple[str, str, str, str]]:
        """The same, from the verdicts that have evidence."""
        query = select(VERDICTS.c.source, VERDICTS.c.model, VERDICTS.c.checker, VERDICTS.c.outcome).join(EVIDENCE)
        with self.engine.connect() as connection:
            return Counter(
                (source, model, checker, outcome) for source, model, checker, outcome in connection.execute(query)
            )

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
