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


def _with(document: dict[str, Any], literal: str) -> bytes:
    """`document` with a field more, whose value stands as `literal` in the text."""
    return _bytes(document)[:-1] + b', "extra": ' + literal.encode() + b"}"


def _truncated(random: Random) -> bytes:
    whole = _bytes(valid(random))
    return whole[: random.randrange(1, len(whole))]


def _trailing(random: Random) -> bytes:
    return _bytes(valid(random)) + random.choice([b"}", b" {}", b",", b'"', b"\n\n[1]"])


def _not_json(random: Random) -> bytes:
    return random.choice([b"<xml/>", b"kind=generation", b"{'kind': 'generation'}", b"\xef\xbb\xbf{}", b"{} // none"])


def _invalid_utf8(random: Random) -> bytes:
    whole = _bytes(valid(random))
    at = random.randrange(len(whole) + 1)
    return whole[:at] + random.choice([b"\xff", b"\xc3\x28", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf"]) + whole[at:]


def _utf16(random: Random) -> bytes:
    return json.dumps(valid(random)).encode("utf-16")


def _binary(random: Random) -> bytes:
    return b"\x00\x00\x00\x00\x07\xff" + random.randbytes(random.randrange(1, 200))


def _not_an_object(random: Random) -> bytes:
    return random.choice([b"null", b"true", b"17", b"-0.5", b'"generation"', b"[]", b'"\\ud800"'])


def _array_of_records(random: Random) -> bytes:
    return _bytes([valid(random) for _ in range(random.randrange(1, 4))])


def _unknown_kind(random: Random) -> bytes:
    kind = random.choice(["image", "Generation", "", "generation ", 7, True, [], {}, ["generation"], "x" * 9000])
    return _bytes({**valid(random), "kind": kind})


def _without_kind(random: Random) -> bytes:
    document = valid(random)
    if random.random() < 0.5:
        del document["kind"]
    else:
        document["kind"] = None
    return _bytes(document)


def _missing_field(random: Random) -> bytes:
    document = valid(random)
    del document[random.choice(["source", "model", "response"])]
    return _bytes(document)


def _wrong_type(random: Random) -> bytes:
    wrong: list[tuple[str, Any]] = [
        ("response", None),
        ("response", 5),
        ("response", ["a", "b"]),
        ("contexts", "one passage"),
        ("contexts", [{"passage": "a passage"}]),
        ("contexts", None),
        ("samples", [1, 2]),
        ("source", {"name": "support-bot"}),
        ("model", ""),
        ("model", "m" * 257),
        ("id", 17),
        ("id", "two\nlines"),
        ("task", "translation"),
        ("metadata", []),
        ("occurred_at", "yesterday"),
        ("occurred_at", "2026-13-40T00:00:00Z"),
        ("occurred_at", "0001-01-01T00:00:00+23:00"),
        ("occurred_at", "9999-12-31T23:59:59-23:00"),
        ("occurred_at", True),
    ]
    field, value = random.choice(wrong)
    return _bytes({**valid(random), field: value})


def _oversized(random: Random) -> bytes:
    return _bytes({**valid(random), "response": "word " * (MAX_BYTES // 5 + random.randrange(1, 1000))})


def _deep(random: Random) -> bytes:
    depth = random.choice([65, 100, 1000, 20_000])
    opening, closing = random.choice([("[", "]"), ('{"a":', "}")])
    return _with(valid(random), opening * depth + "1" + closing * depth if depth < 10_000 else "[" * depth)


def _huge_integer(random: Random) -> bytes:
    return _with(valid(random), random.choice(["", "-"]) + "9" * random.choice([19, 20, 400, 5000]))


def _huge_float(random: Random) -> bytes:
    return _with(valid(random), random.choice(["1e400", "-1e400", "[1E+999]", "9" * 400 + ".5"]))


def _not_a_number(random: Random) -> bytes:
    return _with(valid(random), random.choice(["NaN", "Infinity", "-Infinity", '{"score": NaN}']))


def _duplicate_key(random: Random) -> bytes:
    return random.choice(
        [
            _bytes(valid(random))[:-1] + b', "response": "Parcel 9 was lost."}',
            _bytes(valid(random))[:-1] + b', "kind": "probe"}',
            _with(valid(random), '{"a": 1, "a": 1}'),
            _with(valid(random), '[{"a": 1, "\\u0061": 2}]'),
        ]
    )


def _lone_surrogate(random: Random) -> bytes:
    escape = random.choice(["\\ud800", "\\udfff", "\\udc00\\ud800", "cut \\ud83d"])
    where = random.choice(["response", "metadata", "extra"])
    document = valid(random)
    document[where] = {"note": "@"} if where == "metadata" else "@"
    return _bytes(document).replace(b"@", escape.encode())


def _raw_control_character(random: Random) -> bytes:
    document = {**valid(random), "response": "one@two"}
    return _bytes(document).replace(b"@", bytes([random.choice([*range(32)])]))


def _escaped_control_character(random: Random) -> bytes:
    control = chr(random.choice([0, 1, 7, 14, 26, 28, 31, 127]))
    field = random.choice(["response", "source", "id", "prompt"])
    return json.dumps({**valid(random), field: f"one{control}two"}).encode()


SHAPES: dict[str, Shape] = {
    "null": lambda _: None,
    "empty": lambda _: b"",
    "blank": lambda random: random.choice([b" ", b"\n", b"\r\n\t "]),
    "truncated": _truncated,
    "trailing": _trailing,
    "not_json": _not_json,
    "invalid_utf8": _invalid_utf8,
    "utf16": _utf16,
    "binary": _binary,
    "not_an_object": _not_an_object,
    "array_of_records": _array_of_records,
    "unknown_kind": _unknown_kind,
    "without_kind": _without_kind,
    "missing_field": _missing_field,
    "wrong_type": _wrong_type,
    "oversized": _oversized,
    "deep": _deep,
    "huge_integer": _huge_integer,
    "huge_float": _huge_float,
    "not_a_number": _not_a_number,
    "duplicate_key": _duplicate_key,
    "lone_surrogate": _lone_surrogate,
    "raw_control_character": _raw_control_character,
    "escaped_control_character": _escaped_control_character,
}
"""A name for each way of being no record, and how to make one."""

REASONS: dict[str, DeadLetterReason] = {
    "null": "empty",
    "empty": "empty",
    "blank": "empty",
    "truncated": "not_json",
    "trailing": "not_json",
    "not_json": "not_json",
    "invalid_utf8": "not_utf8",
    "utf16": "not_utf8",
    "binary": "not_utf8",
    "not_an_object": "not_an_object",
    "array_of_records": "not_an_object",
    "unknown_kind": "unknown_kind",
    "without_kind": "invalid_record",
    "missing_field": "invalid_record",
    "wrong_type": "invalid_record",
    "oversized": "oversized",
    "deep": "too_deep",
    "huge_integer": "bad_number",
    "huge_float": "bad_number",
    "not_a_number": "bad_number",
    "duplicate_key": "duplicate_key",
    "lone_surrogate": "invalid_record",
    "raw_control_character": "not_json",
    "escaped_control_character": "invalid_record",
}
"""What a reader refuses each shape with."""
