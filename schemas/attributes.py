"""Attributes: what outputs may have in common, by name and value."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from schemas.records import Envelope, Passage, Retrieval
from schemas.verdicts import Verdict

_MOST: Final = 16
"""Documents, and keys of metadata, of one record."""
_CHARACTERS: Final = 100


class Attribute(NamedTuple):
    """Something that a verdict or its record has."""

    name: str
    """`document`, `metadata.` and a key, `tenant`, `hour`, `checker_version`, `config_digest`, `judge`."""
    value: str


def record_attributes(record: Envelope) -> dict[str, tuple[str, ...]]:
    """The documents of a record, and what of its metadata is a text, a number, true or false, by name."""
    documents = dict.fromkeys(islice(_documents(record), _MOST))
    found = {"document": tuple(documents)} if documents else {}
    for key, value in islice(record.metadata.items(), _MOST):
        if isinstance(value, str | int | float) and (text := _cut(str(value))):
            found[f"metadata.{_cut(key)}"] = (text,)
    return found


def attributes_of(verdict: Verdict) -> frozenset[Attribute]:
    """All by which a verdict is compared with others of its series."""
    found = {Attribute(name, value) for name, values in verdict.attributes.items() for value in values}
    judges = verdict.cascade.judges if verdict.cascade else (verdict.judge,)
    more = {
        "tenant": verdict.tenant,
        "hour": f"{verdict.occurred_at or verdict.checked_at:%Y-%m-%dT%H}",
        "checker_version": verdict.checker_version,
        "config_digest": verdict.config_digest,
        # Either judge of a cascade may have decided: that is no difference between records.
        "judge": " > ".join(judges),
    }
    return frozenset(found | {Attribute(name, _cut(value)) for name, value in more.items() if value})


def _documents(record: Envelope) -> Iterator[str]:
    given: Iterable[str | None] = ()
    if isinstance(record, Retrieval):
        given = (record.matched.id,)
    elif contexts := getattr(record, "contexts", ()):
        given = (each.document for each in contexts if isinstance(each, Passage))
    return (_cut(name) for name in given if name)


def _cut(text: str) -> str:
    return " ".join(text[:_CHARACTERS].split())
