"""The checker: what a method is to the rest of the service. A method writes `decide`; this class does the rest."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from models.protocol import Judge, Model, ModelFailed, ModelUnavailable
from models.work import Work, work_limit
from schemas import RECORD_TYPES, Abstention, Envelope, Evidence, Usage, Verdict, digest, verdict_id
from schemas.evidence import AbstentionCause, ConsistencyEvidence, JudgeCause, PluginEvidence, ProbeEvidence
from schemas.records import misspelt_hint
from schemas.verdicts import Cascade, record_attributes

_DIGEST_DIGITS = 16
_MOST_HELD = 10_000
"""More records than a worker holds."""
_ESCALATED = frozenset({"between_thresholds", "unsupported_language", *get_args(JudgeCause)})
"""Causes with which the first judge of a cascade leaves a record to the second. A record that has nothing to be judged
by is not sent on, nor one whose time is over."""

NOBODY = "none"
"""In the place of a judge's name, where none is asked."""

MISLED = (
    "the judge is wrong about control sentences, too, whose truth is known: it may be too weak a judge "
    "(`assay judge check` measures it), or do as a text in the record tells it"
)
"""Why no accept is taken from a judge."""

OPERATIONAL: Final = "operational"
"""Marks a field of a checker's settings, as in `Annotated[float, OPERATIONAL]`, that bears on no verdict.

All other fields are part of the configuration's digest, and so of verdict ids.
"""


class CheckerSettings(BaseModel):
    """Base class of a checker's section of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Thresholds(BaseModel):
    """Scores that are accepted and rejected; those between are left undecided. `assay calibrate` prints them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    accept_from: Annotated[float, Field(ge=0, le=1)] | None = None
    """Accept from this score on; not set: accept nothing."""
    reject_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """Reject below this score; not set: reject nothing."""
    judge: Annotated[str, Field(min_length=1)] | None = None
    """Judge whose scores they were calibrated on; with another one the checker does not start."""

    @model_validator(mode="after")
    def _in_order(self) -> "Thresholds":
        if self.accept_from is not None and self.reject_below is not None and self.reject_below > self.accept_from:
            raise ValueError(
                f"reject_below is {self.reject_below:g}; it should not exceed accept_from ({self.accept_from:g})"
            )
        return self

    @property
    def are_set(self) -> bool:
        return self.accept_from is not None or self.reject_below is not None

    def accepts(self, score: float) -> bool | None:
        """True if `score` is accepted, False if it is rejected, None if it lies between."""
        if self.accept_from is not None and score >= self.accept_from:
            return True
        return False if self.reject_below is not None and score < self.reject_below else None

    def between(self, score: float) -> str:
        """Why `score` decides nothing."""
        bounds = {"rejected below": self.reject_below, "accepted from": self.accept_from}
        allowed = " and ".join(f"{what} {bound:g}" for what, bound in bounds.items() if bound is not None)
        return f"the score is {score:g}; it is {allowed}"


class ScoringSettings(CheckerSettings):
    """Base class of the settings of a checker whose score can be thresholded."""

    thresholds: Thresholds = Thresholds()
    """Two thresholds on the verdict's score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models that checkers may ask."""

    judge: Judge | None = None
    """None if no checker needs one."""
    writer: Model | None = None
    """The model that writes for a method: the judge's own, if it is behind an endpoint."""
    screen: Judge | None = None
    """The judge that a cascade asks before `judge`; it costs nothing."""
    subjects: Mapping[str, Model] = field(default_factory=dict)
    """By the name that records carry as their `model`."""
    record_seconds: float = 150.0
    """Time limit of the work on one record; the checker abstains when it has passed. Waiting does not count: for a
    model that is being loaded, for a free place, in a queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Accept or reject, and why."""

    accepted: bool
    reason: str
    """One sentence for a person."""
    score: float | None = None
    """0 to 1. None stands for 1 if accepted, else 0: the mean over records is then the acceptance rate."""
    evidence: Evidence | Mapping[str, JsonValue] = field(default_factory=dict)
    """A checker from outside this project gives a mapping; verdicts carry it as `PluginEvidence`."""
    error_bound: float | None = None


class Undecidable(Exception):
    """The method cannot decide about this record: the verdict abstains."""

    def __init__(
        self,
        cause: AbstentionCause,
        detail: str,
        *,
        score: float | None = None,
        graded: ConsistencyEvidence | None = None,
        probe: ProbeEvidence | None = None,
    ) -> None:
        """`score` and `graded` are what decides nothing, `probe` what was asked and not answered."""
        super().__init__(detail)
        self.cause, self.detail = cause, detail
        self.evidence = Abstention(cause=cause, detail=detail, score=score, graded=graded, probe=probe)
        """That of the verdict."""


SettingsT = TypeVar("SettingsT", bound=CheckerSettings)


class Checker(ABC, Generic[SettingsT]):
    """Decides about records of some kinds.

    A subclass sets `name`, writes `decide` and annotates its record with the record types that it takes (`Generation`,
    or a union); its own settings are the class's type argument. One instance checks many records at the same time.
    """

    name: ClassVar[str]
    """Short and stable: consumer group, metrics label, configuration section and word of the command line."""
    version: ClassVar[str] = "1"
    """To be changed whenever the same record could get another verdict from the same configuration."""
    asks_judge: ClassVar[bool] = True
    """False for a checker that asks none: it starts without one, and its verdicts' ids do not change with the judge."""
    answers_questions: ClassVar[bool] = False
    """True for a checker whose judge must answer questions in words, which one that compares texts cannot."""
    unit: ClassVar[Literal["record", "conversation"]] = "record"
    """`conversation`: it takes no record of the topic, but each session's last turns as one response, once it ended."""
    turns: int = 0
    """How many turns before it in its session a record is to come with, or a conversation has; `MOST_TURNS` at most."""
    screen: "Checker[SettingsT] | None" = None
    """In a cascade: the same with thresholds and a judge that costs nothing. The checker gets what it leaves open."""
    kinds: frozenset[str]
    """The record kinds it takes, read off the annotation of `decide`."""
    judge: Judge
    """The configured judge, unless the checker asks none."""
    settings_type: ClassVar[type[CheckerSettings]] = CheckerSettings

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            origin, arguments = get_origin(base), get_args(base)
            if isinstance(origin, type) and issubclass(origin, Checker) and isinstance(arguments[0], type):
                cls.settings_type = arguments[0]
        if "decide" in cls.__dict__:
            cls.kinds = _kinds(cls)

    def __init__(self, settings: SettingsT, models: Models) -> None:
        """A subclass that prepares something raises ValueError for settings that cannot be used, and loads nothing."""
        self.settings = settings
        self.models = models
        self._digests: dict[str, str] = {}
        self._broken_off: LRUCache[tuple[str, str], Usage] = LRUCache(_MOST_HELD)
        """The cost of tries that ended without a verdict, by record."""
        if not self.asks_judge:
            return
        if models.judge is None:
            raise ValueError(f"the checker {self.name} needs a judge, and there is none")
        self.judge = models.judge
        calibrated = settings.thresholds.judge if isinstance(settings, ScoringSettings) else None
        if calibrated not in (None, self.judge.name):
            raise ValueError(
                f"thresholds.judge is {calibrated!r}, but the judge is {self.judge.name!r}: its scores mean something "
                "else. Calibrate again (assay calibrate), or remove the thresholds"
            )

    @property
    def judge_name(self) -> str:
        """The judge's name in verdicts and thresholds."""
        return self.judge.name if self.asks_judge else NOBODY

    @abstractmethod
    async def decide(self, record: Any) -> Decision:
        """Decide about one record.

        Raises:
            Undecidable: the verdict is to abstain.
            ModelFailed: a model gave no usable answer; the verdict abstains.
            ModelUnavailable: a model's endpoint is down; the record is held and checked again.
        """

    def fingerprint(self) -> JsonValue:
        """All else that bears on verdicts, as JSON: versions of prompts, contents of files, other models."""
        return None

    def judge_of(self, record: Any) -> Judge | Model:
        """The model that verdicts on `record` name as their judge."""
        return self.judge

    def subject(self, record: Envelope) -> Model:
        """The model that `record` is about; raises Undecidable (`no_subject`) if it is not configured."""
        if record.model in self.models.subjects:
            return self.models.subjects[record.model]
        detail = f"{record.model!r} would have to be asked again, and no endpoint is configured for it (subjects)"
        raise Undecidable("no_subject", detail)

    async def to_try(self) -> Sequence[tuple[Any, Literal["accept", "reject"]]]:
        """Records that it can be tried on, with the right outcomes; raises ModelUnavailable."""
        return ()

    async def close(self) -> None:
        """Release what the checker itself holds open: connections, threads. Models are closed by their owner."""

    @property
    def config_digest(self) -> str:
        """Digest of everything that bears on a verdict; part of the verdict's id. One for both judges of a cascade."""
        # A judge knows its version once it has been put to its self-test.
        version = self.judge.version if self.asks_judge else ""
        if version not in self._digests:
            parts = [self.version, _bearing(self.settings), self.fingerprint(), self.judge_name, version]
            self._digests[version] = digest(parts)[:_DIGEST_DIGITS]
        own = self._digests[version]
        return own if self.screen is None else digest([self.screen.config_digest, own])[:_DIGEST_DIGITS]

    async def check(self, record: Envelope) -> Verdict:
        """The verdict on a record of the checker's kinds, within `models.record_seconds` of work.

        Verdicts of a cascade name the judge that decided, and both in `cascade`.

        Raises:
            ModelUnavailable: a model's endpoint is down; the record is to be held. Whatever this try cost is on the
                verdict of the next. Its `others_pass` is true if the first judge of a cascade does not decide.
        """
        if self.screen is None:
            return await self._check(record)
        first = await self.screen.check(record)
        if (free := self._of_first(first)) is not None:
            return free
        try:
            verdict = await self._check(record)
        except ModelUnavailable as error:
            error.others_pass = True
            raise
        score = first.evidence.score if isinstance(first.evidence, Abstention) else None
        cascade = Cascade(judges=(self.screen.judge_name, self.judge_name), escalated=True, first_score=score)
        return verdict.model_copy(update={"cascade": cascade})

    async def check_free(self, record: Envelope) -> Verdict | None:
        """The verdict if no call that costs anything is needed for it, else None; raises as `check` does."""
        return None if self.screen is None else self._of_first(await self.screen.check(record))

    def abstain(self, record: Envelope, cause: AbstentionCause, detail: str) -> Verdict:
        """The verdict on a record that cannot be checked for a reason outside the method."""
        return self._verdict(record, Abstention(cause=cause, detail=detail), Usage())

    def _of_first(self, verdict: Verdict) -> Verdict | None:
        """The verdict of the first judge of a cascade as one of this checker; None if it leaves the record open."""
        if isinstance(verdict.evidence, Abstention) and verdict.evidence.cause in _ESCALATED:
            return None
        id_ = verdict_id(verdict.source, verdict.record_id, self.name, self.config_digest)
        judges, first_score = (verdict.judge, self.judge_name), verdict.score
        cascade = Cascade(judges=judges, escalated=False, first_score=first_score)
        return verdict.model_copy(update={"id": id_, "config_digest": self.config_digest, "cascade": cascade})

    async def _check(self, record: Envelope) -> Verdict:
        kind = getattr(record, "kind", None)
        if kind not in self.kinds:
            raise TypeError(f"the checker {self.name} takes {', '.join(sorted(self.kinds))}, not {kind}")
        with Work() as bill:
            try:
                async with work_limit(self.models.record_seconds) as deadline:
                    found: Decision | Abstention = await self.decide(record)
            except Undecidable as error:
                found = error.evidence
            except ModelFailed as error:
                found = Abstention(cause=error.cause, detail=error.detail)
            except TimeoutError:
                if not deadline.expired():
                    raise
                detail = f"no decision within {self.models.record_seconds:g} s (2.5 times judge.timeout_seconds)"
                found = Abstention(cause="timeout", detail=detail)
            except ModelUnavailable:
                key = record.source, record.id
                self._broken_off[key] = bill.usage + self._broken_off.get(key, Usage())
                raise
        return self._verdict(record, found, bill.usage, bill.recorded)

    def _verdict(
        self, record: Envelope, found: Decision | Abstention, usage: Usage, recorded: Sequence[str] = ()
    ) -> Verdict:
        before = self._broken_off.pop((record.source, record.id), None)
        return _verdict(record, found, self.name, self.version, self.config_digest).model_copy(
            update={
                "usage": usage + before if before else usage,
                "exchanges": tuple(dict.fromkeys(recorded)),
                "judge": self.judge_of(record).name if self.asks_judge else NOBODY,
                "attributes": record_attributes(record),
            }
        )


def unclaimed(record: Envelope, detail: str) -> Verdict:
    """The verdict on a record whose kind no checker takes: every record in has a verdict out."""
    return _verdict(record, Abstention(cause="no_checker", detail=detail), NOBODY, "1", NOBODY)


def _verdict(record: Envelope, found: Decision | Abstention, checker: str, version: str, config_digest: str) -> Verdict:
    """The verdict but for what it cost and who judged."""
    # Whatever was decided, it was decided without that field.
    hint = misspelt_hint(record.misspelt)
    note = f" Note: {hint}." if hint else ""
    if isinstance(found, Abstention):
        reason = f"Could not decide: {found.detail}.{note}"
        decided: dict[str, Any] = {"outcome": "abstain", "score": None, "reason": reason, "evidence": found}
    else:
        evidence = found.evidence
        if isinstance(evidence, Mapping):
            evidence = PluginEvidence(checker=checker, findings=dict(evidence))
        decided = {
            "outcome": "accept" if found.accepted else "reject",
            "score": float(found.accepted) if found.score is None else found.score,
            "error_bound": found.error_bound,
            "reason": found.reason.rstrip(".") + "." + note if note else found.reason,
            "evidence": evidence,
        }
    return Verdict(
        **decided,
        id=verdict_id(record.source, record.id, checker, config_digest),
        record_id=record.id,
        checker=checker,
        checker_version=version,
        config_digest=config_digest,
        usage=Usage(),
        source=record.source,
        model=record.model,
        tenant=record.tenant,
        trace=record.trace,
        judge=NOBODY,
        occurred_at=record.occurred_at,
    )


def _kinds(checker: type[Checker[Any]]) -> frozenset[str]:
    annotation = get_type_hints(checker.decide).get("record")
    types = [annotation] if isinstance(annotation, type) else list(get_args(annotation))
    taken = [one for one in RECORD_TYPES if any(isinstance(it, type) and issubclass(one, it) for it in types)]
    if not taken:
        known = ", ".join(one.__name__ for one in RECORD_TYPES)
        raise TypeError(
            f"{checker.__qualname__}.decide: its 'record' must be annotated with the record types that the checker "
            f"takes ({known}, or a union of them)"
        )
    return frozenset(kind for one in taken for kind in get_args(one.model_fields["kind"].annotation))


def _bearing(settings: BaseModel) -> dict[str, JsonValue]:
    """All settings as JSON but for those that are marked as operational, here and in the models below."""
    dumped: dict[str, JsonValue] = settings.model_dump(mode="json")
    for name, known in type(settings).model_fields.items():
        value = getattr(settings, name)
        if OPERATIONAL in known.metadata:
            del dumped[name]
        elif isinstance(value, BaseModel):
            dumped[name] = _bearing(value)
    return dumped
