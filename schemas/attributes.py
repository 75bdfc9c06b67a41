"""Attributes: what outputs may have in common, by name and value."""

from itertools import islice
from typing import Final, NamedTuple

from schemas.records import Envelope, Passage, Retrieval
from schemas.verdicts import Verdict

_MOST: Final = 16  # Documents, and keys of metadata, of one record.


class Attribute(NamedTuple):
    """Something that a verdict or its record has."""

    name: str
    """`document`, `metadata.` and a key, `tenant`, `hour`, `checker_version`, `config_digest`, `judge`."""
    value: str


def record_attributes(record: Envelope) -> dict[str, tuple[str, ...]]:
    """The documents of a record, and what of its metadata is a text, a number, true or false, by name."""
    documents = [each.document for each in getattr(record, "contexts", ()) if isinstance(each, Passage)]
    if isinstance(record, Retrieval):
        documents = [record.matched.id or ""]
    named = tuple(islice(dict.fromkeys(filter(None, map(_cut, documents))), _MOST))
    found = {"document": named} if named else {}
    for key, value in islice(record.metadata.items(), _MOST):
        if isinstance(value, str | int | float) and (text := _cut(str(value))):
            found[f"metadata.{_cut(key)}"] = (text,)
    return found


def attributes_of(verdict: Verdict) -> frozenset[Attribute]:
    """All by which a verdict is compared with others of its series."""
    found = {Attribute(name, value) for name, values in verdict.attributes.items() for value in values}
    more = {
        "tenant": verdict.tenant,
        "hour": f"{verdict.occurred_at or verdict.checked_at:%Y-%m-%dT%H}",
        "checker_version": verdict.checker_version,
        "config_digest": verdict.config_digest,
        # Either judge of a cascade may have decided: that is no difference between records.
        "judge": " > ".join(verdict.cascade.judges if verdict.cascade else (verdict.judge,)),
    }
    return frozenset(found | {Attribute(name, _cut(value)) for name, value in more.items() if value})


def _cut(text: str) -> str:
    return " ".join(text[:100].split())
