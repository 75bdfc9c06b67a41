"""The sample records: in the installed package, or in the checkout it runs from."""

from pathlib import Path

from schemas import Envelope, read_record
from streams.errors import StreamError

_FILE = "records.jsonl"
_MAX_BYTES = 1_048_576


def sample_records(kinds: frozenset[str]) -> list[Envelope]:
    """The sample records of these kinds.

    Raises:
        StreamError: the installation lacks the file.
    """
    package = Path(__file__).parent
    for folder in (package, package.parent.parent / "examples"):
        file = folder / _FILE
        if file.is_file():
            records = [read_record(line, max_bytes=_MAX_BYTES) for line in file.read_bytes().splitlines()]
            return [record for record in records if getattr(record, "kind", None) in kinds]
    raise StreamError(f"the sample records ({_FILE}) are missing from this installation")
