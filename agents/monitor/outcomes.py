"""Outcomes: the accepts and rejects of all checkers on one topic, with what the trust monitor needs of each verdict.

A checker's agent writes an outcome behind its verdict and before the record is acknowledged, in the order of the
verdicts. So none is lost, and one that comes twice has the same verdict id. Subjects have a partition each, as on the
topics of verdicts.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from schemas import Attribute, Commonality, Origin, RejectedRecord, Verdict, attributes_of
from schemas.base import Fraction, Name, Share, Timestamp
from store.commonalities import commonalities
from streams.messages import Outgoing, subject_key
from streams.settings import TopicSettings

_MAX_REASON = 500  # Code points of a rejected verdict's reason that are kept for an alert.
_MAX_PART = 256  # Code points of a part of a version that are compared, and shown in an event.

Version: TypeAlias = Mapping[str, str]
"""The parts that are equal where two verdicts are comparable, by name: the checker's version, digest and judge, and
the application's version by the record's metadata."""

_VERDICTS: Final = 200
_ATTRIBUTES: Final = 300  # Different ones: producers choose them, so memory needs a limit.

_COPIED = {"source", "model", "checker", "record_id", "score", "checked_at", "origin", "share", "kind"}
METADATA = "metadata."  # Beginning of the names of the application's parts.


class SeriesKey(NamedTuple):
    """A series: the verdicts of one checker on one subject."""

    source: str
    model: str
    checker: str


class SeriesOutcome(BaseModel):
    """An accept or a reject."""

    model_config = ConfigDict(frozen=True)

    source: Name
    model: Name
    checker: Name
    verdict_id: Name
    version: dict[str, str]
    moment: Timestamp  # When the output was produced; when it was checked, where its record does not say.
    rejected: RejectedRecord | None  # The record as alerts show it; None if it was accepted.
    record_id: Name
    score: Fraction
    checked_at: Timestamp
    origin: Origin | None  # Position of the record.
    share: Share  # That of the verdict.
    attributes: tuple[Attribute, ...] = ()  # By which rejects are compared with accepts.
    kind: Name | None

    @property
    def key(self) -> SeriesKey:
        return SeriesKey(self.source, self.model, self.checker)

    @property
    def accepted(self) -> bool:
        return self.rejected is None

    @property
    def outcome(self) -> Literal["accept", "reject"]:
        return "accept" if self.accepted else "reject"


def with_outcome(message: Outgoing, verdict: Verdict, topics: TopicSettings) -> Sequence[Outgoing]:
    """`message`, which is that of `verdict`, and behind it its outcome, unless it abstains or is a recheck."""
    if verdict.outcome != "abstain" and not verdict.rechecked:
        # An alert names the verdict's position, which is known once it is written. Accepts could go at once, and would
        # overtake the rejects of before: those would come many in a row, which looks like a drop.
        message.then = partial(outcome_message, verdict, topics)
    return (message,)


def missing_outcome(topics: TopicSettings, answer: bytes, position: Origin) -> Outgoing | None:
    """The outcome of an answer at `position`, written by a worker that ended before it; None if it has none."""
    if position.topic not in (topics.accepted, topics.rejected):
        return None
    verdict = Verdict.model_validate_json(answer)
    return None if verdict.rechecked else outcome_message(verdict, topics, position)


def outcome_message(verdict: Verdict, topics: TopicSettings, position: Origin | None = None) -> Outgoing:
    """The message of a verdict's outcome; the verdict is at `position`, and does not abstain."""
    copied = verdict.model_dump(include=_COPIED)
    rejected = {name: copied[name] for name in ("record_id", "checked_at", "origin")} | {
        "verdict_id": verdict.id,
        "reason": verdict.reason[:_MAX_REASON],
        "verdict_origin": position and position.model_dump(),
    }
    outcome = copied | {
        "verdict_id": verdict.id,
        "version": _version(verdict),
        "moment": verdict.occurred_at or verdict.checked_at,
        "rejected": None if verdict.outcome == "accept" else rejected,
        "attributes": [list(one) for one in sorted(attributes_of(verdict))],
    }
    key = subject_key(verdict.source, verdict.model)
    return Outgoing(topics.outcomes, key, orjson.dumps(outcome, option=orjson.OPT_UTC_Z), [])


def _version(verdict: Verdict) -> dict[str, str]:
    version = {
        "checker_version": verdict.checker_version,
        "config_digest": verdict.config_digest,
        # Either judge of a cascade may have decided: that is not a change.
        "judge": " > ".join(verdict.cascade.judges if verdict.cascade else (verdict.judge,))[:_MAX_PART],
    }
    for name, value in verdict.metadata.items():
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        version[f"{METADATA}{name}"[:_MAX_PART]] = text[:_MAX_PART]
    return version


@dataclass(config=ConfigDict(extra="forbid"))
class RecentVerdicts:
    """Some 200 verdicts in 5 kB: the latest, and of those before the fewer the older they are.

    Accepts are thinned as rejects are. Were the latest of each kept, accepts would be younger, and rejects would have
    in common whatever is past.
    """

    attributes: list[Attribute] = Field(default_factory=list)
    verdicts: list[tuple[bool, list[int]]] = Field(default_factory=list)  # Accepted, and places in `attributes`.

    def __post_init__(self) -> None:
        self._places = {one: place for place, one in enumerate(self.attributes)}

    def add(self, accepted: bool, attributes: Iterable[Attribute]) -> None:
        """Count the latest verdict."""
        places = [self._places.setdefault(one, len(self._places)) for one in attributes]
        self.attributes = list(self._places)
        self.verdicts.append((accepted, places))
        half, before = len(self.verdicts) // 2, self.attributes
        if half and (len(self.verdicts) > _VERDICTS or len(before) > _ATTRIBUTES):
            kept = self.verdicts[1:half:2] + self.verdicts[half:]
            self._places, self.verdicts = {}, []
            for each, having in kept:
                self.add(each, [before[place] for place in having])

    def common(self) -> tuple[Commonality, ...]:
        """What rejects have in common, the strongest first; at most three."""
        rejects, accepts = (
            [frozenset(self.attributes[place] for place in places) for each, places in self.verdicts if each is wanted]
            for wanted in (False, True)
        )
        return tuple(commonalities(rejects, accepts)[:3])
