"""Identifiers, dead letters and their bounds: the same content gives the same id everywhere."""

import hashlib
import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from schemas import DeadLetter, DeadLetterReason, Origin, digest, read_record, to_json, verdict_id
from tests.support.record_strategies import documents, json_values, names

MINIMAL = {"kind": "generation", "source": "minutes", "model": "acme-chat-4", "response": "It was approved."}


def record_id(document: dict, **how: object) -> str:
    return read_record(json.dumps(document, **how).encode(), max_bytes=10**6).id


@given(documents)
def test_a_records_id_does_not_depend_on_the_order_of_keys(document):
    assert record_id(document, sort_keys=True) == record_id(document)


@given(documents, json_values, json_values)
def test_other_content_gives_another_derived_id(document, one, other):
    document = {name: value for name, value in document.items() if name != "id"}
    same = digest(one) == digest(other)
    assert (record_id({**document, "unknown": one}) == record_id({**document, "unknown": other})) == same


def test_a_derived_id_is_pinned():
    """Consumers hold these ids: a release that changes them makes every redelivery a new record."""
    assert record_id(MINIMAL) == "rec-df4d024ee31541058449a127617f9ce9"


@given(st.lists(names, min_size=4, max_size=4), st.lists(names, min_size=4, max_size=4))
def test_verdict_ids_are_equal_exactly_when_source_record_checker_and_configuration_are(one, other):
    assert (verdict_id(*one) == verdict_id(*other)) == (one == other)


def test_a_verdict_id_is_pinned():
    """It is the same in every process, and a release that changes it makes every redelivery a new verdict."""
    assert verdict_id("minutes", "rec-1", "consistency", "cfg-1") == "ver-55542cc7f9ff6d0485150fcb57a8b314"


ORIGIN = Origin(topic="assay.outputs", partition=3, offset=41)

reasons = st.sampled_from(get_args(DeadLetterReason))
payloads = st.none() | st.binary(max_size=200)


def letter(payload: bytes | None = b"{", **fields: object) -> DeadLetter:
    return DeadLetter.of(
        payload,
        **{"reason": "not_json", "detail": "cut", "origin": ORIGIN, "checker": "any", "keep_bytes": 100, **fields},
    )


@given(payloads, st.integers(0, 200))
def test_the_whole_message_is_known_by_length_and_digest_however_little_is_kept(payload, keep_bytes):
    kept = letter(payload, keep_bytes=keep_bytes)
    assert kept.payload == (payload or b"")[:keep_bytes]
    assert kept.truncated == (len(payload or b"") > keep_bytes)
    assert kept.payload_bytes == len(payload or b"")
    assert kept.payload_sha256 == hashlib.sha256(payload or b"").hexdigest()


def test_ids_are_those_of_place_and_reason():
    letters = [letter(origin=ORIGIN.model_copy(update={"offset": at})) for at in (1, 2)]
    letters += [letter(reason="too_deep"), letter(checker="consistency", detail="cut off"), letter()]
    assert len({one.id for one in letters}) == 4
    assert letters[-1].id == letters[-2].id


def test_a_letter_is_small_however_large_the_message():
    huge = letter(b"x" * 5_000_000, detail="y" * 5_000_000, key=b"k" * 5_000_000, keep_bytes=1000)
    assert len(to_json(huge)) < 10_000


@given(payloads, reasons, st.text(st.characters(), max_size=20), st.none() | st.binary(max_size=20))
def test_writing_then_reading_a_letter_is_the_identity(payload, reason, detail, key):
    written = letter(payload, reason=reason, detail=detail, key=key)
    assert DeadLetter.model_validate_json(to_json(written)) == written


def test_a_detail_that_is_not_unicode_can_be_written():
    assert letter(detail="file \udce4.json").detail == "file ?.json"
