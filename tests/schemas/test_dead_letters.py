"""Dead letters: all that replay needs, of bounded size, under an id that redelivery repeats."""

import hashlib
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from schemas import DeadLetter, DeadLetterReason, Origin, to_json

ORIGIN = Origin(topic="assay.outputs", partition=3, offset=41)

origins = st.builds(
    Origin, topic=st.sampled_from(["assay.outputs", "other"]), partition=st.integers(0, 5), offset=st.integers(0, 5)
)
reasons = st.sampled_from(get_args(DeadLetterReason))
payloads = st.none() | st.binary(max_size=200)


def letter(payload: bytes | None = b"{", **fields: object) -> DeadLetter:
    return DeadLetter.of(
        payload,
        **{"reason": "not_json", "detail": "cut", "origin": ORIGIN, "checker": "any", "keep_bytes": 100, **fields},
    )


@given(payloads, st.integers(0, 200))
def test_at_most_so_many_bytes_are_kept_and_they_are_the_first(payload, keep_bytes):
    kept = letter(payload, keep_bytes=keep_bytes)
    assert kept.payload == (payload or b"")[:keep_bytes]
    assert kept.truncated == (len(payload or b"") > keep_bytes)


@given(payloads, st.integers(0, 200))
def test_the_whole_message_is_known_by_length_and_digest_however_little_is_kept(payload, keep_bytes):
    kept = letter(payload, keep_bytes=keep_bytes)
    assert kept.payload_bytes == len(payload or b"")
    assert kept.payload_sha256 == hashlib.sha256(payload or b"").hexdigest()


@given(origins, reasons, origins, reasons)
def test_ids_are_equal_exactly_when_place_and_reason_are(origin, reason, other_origin, other_reason):
    same = (origin, reason) == (other_origin, other_reason)
    assert (letter(origin=origin, reason=reason).id == letter(origin=other_origin, reason=other_reason).id) == same


def test_a_redelivered_message_gives_the_same_id_whoever_reads_it():
    assert letter(checker="consistency", detail="cut").id == letter(checker="retrieval", detail="cut off").id


def test_a_letter_is_small_however_large_the_message():
    huge = letter(b"x" * 5_000_000, detail="y" * 5_000_000, key=b"k" * 5_000_000, keep_bytes=1000)
    assert len(to_json(huge)) < 10_000


@given(payloads, reasons, st.text(st.characters(), max_size=20), st.none() | st.binary(max_size=20))
def test_writing_then_reading_a_letter_is_the_identity(payload, reason, detail, key):
    written = letter(payload, reason=reason, detail=detail, key=key)
    assert DeadLetter.model_validate_json(to_json(written)) == written


def test_a_detail_that_is_not_unicode_can_be_written():
    assert letter(detail="file \udce4.json").detail == "file ?.json"
