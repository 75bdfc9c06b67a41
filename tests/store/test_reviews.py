"""The queue: who is asked what, whatever order labels are kept in, and what is kept how long."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas import Label, ReviewRequest, valid_labels
from store.retention import prune
from store.reviews import Reviews
from store.settings import StoreSettings
from store.tables import CALIBRATIONS, LABELS, REVIEW_REQUESTS, VERDICTS
from store.writing import label_key
from tests.support.labels import CALIBRATION, REQUEST
from tests.support.stored import Stored
from tests.support.trust_verdicts import verdict

NOW = datetime.now(UTC).replace(microsecond=0)


def asked(number: int, reason: str = "sample", **more: Any) -> ReviewRequest:
    given = {
        "id": f"req-{number}-{reason}",
        "verdict_id": verdict(number, True).id,
        "record_id": f"r{number}",
        "reason": reason,
        "asked_at": NOW + timedelta(seconds=number),
        "expires_at": NOW + timedelta(days=14),
    }
    return REQUEST.model_copy(update=given | more)


def said(number: int, label: str = "good", *, by: str = "ada", at: int = 0, **more: Any) -> Label:
    given = {"source": "shop", "model": "m", "annotator": by, "label": label}
    when = NOW + timedelta(seconds=at)
    return Label.model_validate({"verdict_id": verdict(number, True).id, "labelled_at": when} | given | more)


def test_what_waits_for_a_person_is_what_others_have_not_answered(stored: Stored):
    stored.keep([verdict(number, True) for number in range(7)])
    stored.keep([asked(number) for number in range(8)])
    stored.keep([asked(1, "second_opinion"), asked(2, "second_opinion")])
    stored.keep([asked(9, expires_at=NOW)])
    labels = [
        said(0),
        said(1),
        said(2), said(2, by="ben"),
        said(3), said(3, at=1, withdrawn=True),
        said(4, "bad", at=1), said(4, at=0, withdrawn=True),
        said(5, kind="reaction"),
        said(6, rubric_version="2"),
    ]  # fmt: skip
    stored.keep(random.Random(1).sample(labels, len(labels)))
    assert open_to(stored, "ada") == [3, 5, 6], "the verdict of 7 is not kept, 9 has expired"
    assert open_to(stored, "ben") == [1, 3, 5, 6]
    reviews = Reviews(stored.engine)
    (first, second, *_) = reviews.open_to("ada", NOW, limit=10)
    assert open_to(stored, "ada", after=first.request.id) == [5, 6]
    assert open_to(stored, "ada", limit=1) == [3]
    assert (first.answers, first.people) == (0, 1)
    (wanted,) = [each for each in reviews.open_to("ben", NOW, limit=10) if each.people == 2]
    assert wanted.answers == 1
    about = reviews.asked(verdict(2, True).id)
    assert about is not None
    assert (about.answers, about.people) == (2, 2)
    assert reviews.asked("ver-nobody") is None
    assert second.request.verdict_id == verdict(5, True).id


def test_earlier_labels_are_kept_and_repeats_are_not(stored: Stored):
    labels = [said(0, "bad", at=1, note="wrong day"), said(0, at=0), said(0, at=2, withdrawn=True), said(1, at=1)]
    stored.keep([*labels, *labels])
    stored.keep([each.model_copy(update={"id": "of-a-careless-producer"}) for each in labels])
    reviews = Reviews(stored.engine)
    kept = reviews.labels(verdict(0, True).id)
    assert [(each.label, each.withdrawn, each.note) for each in kept] == [
        ("good", False, None),
        ("bad", False, "wrong day"),
        ("good", True, None),
    ]
    assert valid_labels(kept) == {}
    assert {each.verdict_id for each in reviews.said_by("ada")[1:3]} == {verdict(n, True).id for n in (0, 1)}
    assert reviews.said_by("ben") == []
    assert reviews.known([label_key(labels[0]), "lab-none"]) == {label_key(labels[0])}


def test_the_last_calibration_of_a_series_stays(stored: Stored):
    later, other = {"updated_at": NOW, "labels": 31}, {"config_digest": "e", "updated_at": NOW - timedelta(hours=1)}
    stored.keep([CALIBRATION.model_copy(update=later), CALIBRATION])
    stored.keep([CALIBRATION, CALIBRATION.model_copy(update=other)])
    found = Reviews(stored.engine).calibrations()
    assert [(each.config_digest, each.labels) for each in found] == [("d", 31), ("e", 30)]
    assert stored.number(CALIBRATIONS) == 2


def test_what_people_are_asked_about_stays_six_times_as_long(stored: Stored):
    days = (2, 7)
    old = {number: NOW - timedelta(days=day) for number, day in enumerate(days)}
    stored.keep([verdict(number, True, checked_at=at) for number, at in old.items()])
    stored.keep([verdict(9, True, checked_at=old[0])])
    stored.keep([asked(number, asked_at=at) for number, at in old.items()])
    stored.keep([said(0)])
    while prune(stored.engine, StoreSettings(days=1)):
        pass
    assert {row["record_id"] for row in stored.rows(VERDICTS)} == {"r0"}
    assert [row["verdict_id"] for row in stored.rows(REVIEW_REQUESTS)] == [verdict(0, True).id]
    assert stored.number(LABELS) == 1


def open_to(stored: Stored, annotator: str, **options: Any) -> list[int]:
    found = Reviews(stored.engine).open_to(annotator, NOW, **{"limit": 100} | options)
    return [int(each.request.record_id[1:]) for each in found]
