"""The records of `tests/attacks/attacks.jsonl`."""

from pathlib import Path

from schemas import Generation, read_record

_LINES = (Path(__file__).parents[1] / "attacks" / "attacks.jsonl").read_bytes().splitlines()


def _generation(line: bytes) -> Generation:
    record = read_record(line, max_bytes=2**20)
    assert isinstance(record, Generation)
    return record


ATTACKS: list[Generation] = [_generation(line) for line in _LINES]
"""Each is wrong against its reference and disguised."""


def name_of(attack: Generation) -> str:
    """A name for the test's id."""
    return f"{attack.id}-{attack.metadata['language']}-{attack.metadata['attack']}"
