"""The journal of a run: results are on disk as soon as they are there, and an interrupted run goes on from them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Generic, Self, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from assay.cli.front_door import CannotRun

ResultT = TypeVar("ResultT", bound=BaseModel)


class RunJournal(Generic[ResultT]):
    """`OUT.journal`: a line that says which run it is of, then a line a result, in their order.

    When the run is complete its results are written to OUT, and the journal is gone.
    """

    def __init__(self, out: Path, identity: str, form: type[ResultT], *, of: str) -> None:
        """`identity` is a digest of all that bears on the results, which are those things that `of` names."""
        self.path = out.with_name(f"{out.name}.journal")
        self._out = out
        self._identity = identity
        self._form = form
        self._of = of
        self._stream: BinaryIO | None = None

    def results(self) -> Iterator[ResultT]:
        """Those of the interrupted run, if there is one; an incomplete last line is removed from the file.

        Raises:
            CannotRun: the journal is of another run, or of another version.
        """
        if not self.path.exists():
            return
        with self.path.open("r+b") as stream:
            head = stream.readline()
            if not head.endswith(b"\n"):
                stream.truncate(0)
                return
            self._is_ours(head)
            whole = stream.tell()
            while (line := stream.readline()).endswith(b"\n"):
                try:
                    yield self._form.model_validate_json(line)
                except ValidationError:
                    raise CannotRun(
                        f"{self.path}: a line is no result of this version; delete the journal, or give another --out"
                    ) from None
                whole = stream.tell()
            stream.truncate(whole)

    def _is_ours(self, head: bytes) -> None:
        with suppress(orjson.JSONDecodeError):
            known = orjson.loads(head)
            if isinstance(known, dict) and known.get("run") == self._identity:
                return
        raise CannotRun(
            f"{self.path} is of a run with another {self._of}; "
            "finish that one, delete the journal, or give another --out"
        )

    def __enter__(self) -> Self:
        self._stream = self.path.open("ab")
        if not self._stream.tell():
            self._write(orjson.dumps({"run": self._identity}))
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def add(self, result: ResultT) -> None:
        self._write(result.model_dump_json().encode())

    def finish(self) -> None:
        """Write the results to the output."""
        self.__exit__()
        part = self._out.with_name(f"{self._out.name}.part")
        with self.path.open("rb") as source, part.open("wb") as target:
            source.readline()
            while chunk := source.read(1 << 20):
                target.write(chunk)
            target.flush()
            os.fsync(target.fileno())
        part.replace(self._out)
        self.path.unlink()

    def _write(self, line: bytes) -> None:
        if self._stream is None:
            raise RuntimeError("the journal is not open")
        self._stream.write(line + b"\n")
        self._stream.flush()
