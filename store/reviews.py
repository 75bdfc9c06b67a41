"""Requests to people, their labels, and what follows from it for the judges, read from the store.

As `store.reading`: synchronous, bounded, and it only reads.
"""

import zlib
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, distinct, exists, func, literal, select, tuple_

from schemas import Calibration, Label, ReviewRequest
from store.reading import Reader
from store.tables import CALIBRATIONS, LABELS, REVIEW_REQUESTS, VERDICTS, milliseconds

_LOOKED_BACK: Final = 200  # labels of one person, or on one verdict

_SERIES: Final = 200


class Asked(NamedTuple):
    """A request, and how many people have answered it."""

    request: ReviewRequest
    people: int
    """Wanted: two where a second opinion is asked for."""
    answers: int
    """People whose label counts."""


class Reviews(Reader):
    """Reads what people are asked, and what they say."""

    def open_to(self, annotator: str, now: datetime, *, source: str = "", after: str = "", limit: int) -> list[Asked]:
        """Requests behind that with the id `after` that wait for this person's answer, the oldest first.

        Of `source`, if it is given.
        """
        asked = REVIEW_REQUESTS.alias()
        query, answers, people = _asked(asked)
        said = LABELS.alias()
        about = exists().where(VERDICTS.c.id == asked.c.verdict_id)
        query = query.where(
            asked.c.reason != "second_opinion",
            asked.c.expires_at > milliseconds(now),
            about.where(VERDICTS.c.source == source) if source else about,
            ~exists().where(_counts(said, asked), said.c.annotator == annotator),
            answers < people,
        )
        if after:
            at = select(REVIEW_REQUESTS.c.asked_at).where(REVIEW_REQUESTS.c.id == after).scalar_subquery()
            query = query.where(tuple_(asked.c.asked_at, asked.c.id) > tuple_(at, literal(after)))
        return _read(self.rows(query.order_by(asked.c.asked_at, asked.c.id).limit(limit)))

    def asked(self, verdict_id: str) -> Asked | None:
        """The request about a verdict, by the last rubric; None if nobody was asked, or it is not kept."""
        asked = REVIEW_REQUESTS.alias()
        query = _asked(asked)[0].where(asked.c.verdict_id == verdict_id, asked.c.reason != "second_opinion")
        return next(iter(_read(self.rows(query.order_by(asked.c.asked_at.desc()).limit(1)))), None)

    def labels(self, verdict_id: str) -> list[Label]:
        """All that was said of a verdict, in the order in which it was said."""
        query = select(LABELS.c.body).where(LABELS.c.verdict_id == verdict_id).order_by(LABELS.c.labelled_at)
        return self.bodies(query.limit(_LOOKED_BACK), Label.model_validate_json)

    def by_experts(self, rubric_version: str) -> list[Label]:
        """All labels that count for the rate, by one rubric, in the order of their verdicts' ids."""
        query = select(LABELS.c.body).where(LABELS.c.kind == "expert", LABELS.c.rubric_version == rubric_version)
        return self.bodies(query.order_by(LABELS.c.verdict_id), Label.model_validate_json)

    def said_by(self, annotator: str) -> list[Label]:
        """A person's latest labels, the last first."""
        query = select(LABELS.c.body).where(LABELS.c.annotator == annotator, LABELS.c.kind == "expert")
        query = query.order_by(LABELS.c.labelled_at.desc()).limit(_LOOKED_BACK)
        return self.bodies(query, Label.model_validate_json)

    def known(self, keys: Collection[str]) -> set[str]:
        """Those of the keys, see `label_key`, whose labels are kept."""
        return {key for (key,) in self.rows(select(LABELS.c.id).where(LABELS.c.id.in_(keys)))}

    def calibrations(self, of: tuple[str, str, str] | None = None) -> list[Calibration]:
        """The calibration of each series, the one that was told of last first; `of`: a source, model and checker."""
        query = select(CALIBRATIONS.c.body).order_by(CALIBRATIONS.c.updated_at.desc()).limit(_SERIES)
        if of is not None:
            query = query.where(tuple_(CALIBRATIONS.c.source, CALIBRATIONS.c.model, CALIBRATIONS.c.checker) == of)
        return self.bodies(query, Calibration.model_validate_json)


def _asked(asked: Any) -> tuple[Select[Any], Any, Any]:
    """Requests with the number of people who have answered, and that of those who are to."""
    said, other = LABELS.alias(), REVIEW_REQUESTS.alias()
    answers = select(func.count(distinct(said.c.annotator))).where(_counts(said, asked)).scalar_subquery()
    same = (other.c.verdict_id == asked.c.verdict_id) & (other.c.rubric_version == asked.c.rubric_version)
    people = case((exists().where(same, other.c.reason == "second_opinion"), 2), else_=1)
    return select(asked.c.body, people, answers), answers, people


def _counts(said: Any, asked: Any) -> ColumnElement[bool]:
    """True for labels of what is asked that count: there is no later one by the same person."""
    later = LABELS.alias()
    same = [later.c[name] == said.c[name] for name in ("verdict_id", "rubric_version", "annotator", "kind")]
    is_later = tuple_(later.c.labelled_at, later.c.withdrawn) > tuple_(said.c.labelled_at, said.c.withdrawn)
    return and_(
        said.c.verdict_id == asked.c.verdict_id,
        said.c.rubric_version == asked.c.rubric_version,
        said.c.kind == "expert",
        ~said.c.withdrawn,
        ~exists().where(*same, is_later),
    )


def _read(rows: Iterable[Any]) -> list[Asked]:
    return [
        Asked(ReviewRequest.model_validate_json(zlib.decompress(body)), people, answers)
        for body, people, answers in rows
    ]
