"""Messages that are no record, by shape: what broken producers put on a topic sooner or later.

Every shape is made from a random generator alone, so a seed repeats it. `REASONS` says what each is refused
with by a reader whose limit is `MAX_BYTES`.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from schemas import DeadLetterReason

MAX_BYTES = 100_000
"""The limit that the shape `oversized` exceeds and all others keep."""

Shape = Callable[[Random], bytes | None]


def valid(random: Random) -> dict[str, Any]:
    """A record as a producer sends it, good in every way."""
    number = random.randrange(10**9)
    return {
        "id": f"made-{number}",
        "kind": "generation",
        "source": random.choice(["support-bot", "minutes", "release-notes"]),
        "model": f"acme-chat-{random.randrange(9)}",
        "response": f"Parcel {number} arrives on Thursday.",
        "contexts": [f"Delivery of parcel {number} is planned for Thursday."],
    }


def _bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _changed(random: Random, **fields: Any) -> bytes:
    return _bytes({**valid(random), **fields})


def _lacking(random: Random, *fields: str) -> bytes:
    document = valid(random)
    del document[random.choice(fields)]
    return _bytes(document)


def _with(random: Random, *literals: str) -> bytes:
    """A record with a field more, whose value stands as one of the literals in the text."""
    return _bytes(valid(random))[:-1] + b', "extra": ' + random.choice(literals).encode() + b"}"


def _truncated(random: Random) -> bytes:
    whole = _bytes(valid(random))
    return whole[: random.randrange(1, len(whole))]


def _invalid_utf8(random: Random) -> bytes:
    whole = _bytes(valid(random))
    at = random.randrange(len(whole) + 1)
    return whole[:at] + random.choice([b"\xff", b"\xc3\x28", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf"]) + whole[at:]


def _deep(random: Random) -> bytes:
    depth = random.choice([65, 100, 1000, 20_000])
    opening, closing = random.choice([("[", "]"), ('{"a":', "}")])
    return _with(random, opening * depth + "1" + closing * depth if depth < 10_000 else "[" * depth)


def _duplicate_key(random: Random) -> bytes:
    if random.random() < 0.5:
        return _with(random, '{"a": 1, "a": 1}', '[{"a": 1, "\\u0061": 2}]')
    return _bytes(valid(random))[:-1] + random.choice([b', "response": "Parcel 9 was lost."}', b', "kind": "probe"}'])


def _lone_surrogate(random: Random) -> bytes:
    escape = random.choice(["\\ud800", "\\udfff", "\\udc00\\ud800", "cut \\ud83d"])
    changed = random.choice([{"response": "@"}, {"metadata": {"note": "@"}}, {"extra": "@"}])
    return _changed(random, **changed).replace(b"@", escape.encode())


def _raw_control_character(random: Random) -> bytes:
    return _changed(random, response="one@two").replace(b"@", bytes([random.randrange(32)]))


def _escaped_control_character(random: Random) -> bytes:
    control = chr(random.choice([0, 1, 7, 14, 26, 28, 31, 127]))
    field = random.choice(["response", "source", "id", "prompt"])
    return json.dumps({**valid(random), field: f"one{control}two"}).encode()


_KINDS = ["image", "Generation", "", "generation ", 7, True, [], {}, ["generation"], "x" * 9000]
_NO_OBJECTS = [b"null", b"true", b"17", b"-0.5", b'"generation"', b"[]", b'"\\ud800"']
_NO_JSON = [b"<xml/>", b"kind=generation", b"{'kind': 'generation'}", b"\xef\xbb\xbf{}", b"{} // none"]
_WRONG_TYPES: list[dict[str, Any]] = [
    *[{"response": value} for value in (None, 5, ["a", "b"])],
    *[{"contexts": value} for value in ("one passage", [{"passage": "a passage"}], None)],
    *[{"id": value} for value in (17, "two\nlines")],
    *[{"model": value} for value in ("", "m" * 257)],
    {"samples": [1, 2]},
    {"source": {"name": "support-bot"}},
    {"task": "translation"},
    {"metadata": []},
    *[{"occurred_at": value} for value in ("yesterday", "2026-13-40T00:00:00Z", True)],
    *[{"occurred_at": value} for value in ("0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00")],
]

_MADE: dict[str, tuple[DeadLetterReason, Shape]] = {
    "null": ("empty", lambda _: None),
    "empty": ("empty", lambda _: b""),
    "blank": ("empty", lambda random: random.choice([b" ", b"\n", b"\r\n\t "])),
    "truncated": ("not_json", _truncated),
    "trailing": (
        "not_json",
        lambda random: _bytes(valid(random)) + random.choice([b"}", b" {}", b",", b'"', b"\n\n[1]"]),
    ),
    "not_json": ("not_json", lambda random: random.choice(_NO_JSON)),
    "raw_control_character": ("not_json", _raw_control_character),
    "invalid_utf8": ("not_utf8", _invalid_utf8),
    "utf16": ("not_utf8", lambda random: json.dumps(valid(random)).encode("utf-16")),
    "binary": ("not_utf8", lambda random: b"\0\0\0\0\x07\xff" + random.randbytes(random.randrange(1, 200))),
    "not_an_object": ("not_an_object", lambda random: random.choice(_NO_OBJECTS)),
    "array_of_records": (
        "not_an_object",
        lambda random: _bytes([valid(random) for _ in range(random.randrange(1, 4))]),
    ),
    "unknown_kind": ("unknown_kind", lambda random: _changed(random, kind=random.choice(_KINDS))),
    "without_kind": ("invalid_record", lambda random: _lacking(random, "kind")),
    "null_kind": ("invalid_record", lambda random: _changed(random, kind=None)),
    "missing_field": ("invalid_record", lambda random: _lacking(random, "source", "model", "response")),
    "wrong_type": ("invalid_record", lambda random: _changed(random, **random.choice(_WRONG_TYPES))),
    "lone_surrogate": ("invalid_record", _lone_surrogate),
    "escaped_control_character": ("invalid_record", _escaped_control_character),
    "oversized": (
        "oversized",
        lambda random: _changed(random, response="word " * (MAX_BYTES // 5 + random.randrange(1, 1000))),
    ),
    "deep": ("too_deep", _deep),
    "huge_integer": (
        "bad_number",
        lambda random: _with(random, random.choice(["", "-"]) + "9" * random.choice([19, 20, 400, 5000])),
    ),
    "huge_float": ("bad_number", lambda random: _with(random, "1e400", "-1e400", "[1E+999]", "9" * 400 + ".5")),
    "not_a_number": ("bad_number", lambda random: _with(random, "NaN", "Infinity", "-Infinity", '{"score": NaN}')),
    "duplicate_key": ("duplicate_key", _duplicate_key),
}

SHAPES: dict[str, Shape] = {name: shape for name, (_, shape) in _MADE.items()}
"""A name for each way of being no record, and how to make one."""

REASONS: dict[str, DeadLetterReason] = {name: reason for name, (reason, _) in _MADE.items()}
"""The reason that each shape is refused with."""
