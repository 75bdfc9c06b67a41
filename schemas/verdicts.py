"""Verdicts: the decision of a checker about a record, and its cost; improvements of what was rejected."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Literal, NamedTuple

from pydantic import Field, JsonValue, model_validator

from schemas.base import Fraction, Name, OptionalTrace, Origin, Share, Text, Timestamp, Wire
from schemas.evidence import Evidence, SentenceFinding
from schemas.records import Envelope, Passage, Retrieval

_MOST: Final = 16  # Documents, and keys of metadata, of one record.

Outcome = Literal["accept", "reject", "abstain"]
OUTCOMES: tuple[Outcome, ...] = ("accept", "reject", "abstain")


class Usage(Wire):
    """The cost of a check."""

    calls: int = 0
    """Questions that reached a model's endpoint, repeats after a failure included."""
    subject_calls: int = 0
    """Those of `calls` that reached the model under test; the others reached a judge."""
    cached: int = 0
    """Questions answered from the cache or by an identical question under way."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Those of `prompt_tokens` that the endpoint had in its cache."""
    estimated_tokens: int = 0
    """Tokens estimated from the texts, as the endpoint told none. An unanswered request has cost its prompt."""
    seconds: float = 0.0
    """Wall time of the check, without what it only waited: for a free place or a model that is being loaded."""
    cost: float = 0.0
    """In the currency of the configured prices."""

    def __add__(self, other: "Usage") -> "Usage":
        """The sum. `seconds` are added as well, even if the checks ran concurrently."""
        return Usage.total((self, other), seconds=self.seconds + other.seconds)

    @classmethod
    def total(cls, parts: "Sequence[Usage]", *, seconds: float) -> "Usage":
        """The sum of what happened within `seconds`, concurrently or not."""
        summed = {name: sum(getattr(part, name) for part in parts) for name in cls.model_fields}
        return cls(**summed | {"seconds": seconds})


class Cascade(Wire):
    """The part of a cascade in a verdict: two judges, the second of which is asked what the first does not decide."""

    judges: tuple[str, str]
    escalated: bool
    """True if the second one was asked."""
    first_score: Fraction | None
    """Score by the first; null if it has none."""


class Verdict(Wire):
    """The decision of one checker about one record."""

    id: Name
    """Derived from the record, the checker and its configuration: the same after redelivery."""
    record_id: Name
    checker: Name
    """Name of the checker; `none` if no running checker takes the record's kind."""
    checker_version: Name
    config_digest: Name
    """Digest of all settings that bear on the verdict."""
    outcome: Outcome
    """`abstain`: the checker could not decide."""
    score: Fraction | None
    """Null if the outcome is `abstain`."""
    error_bound: Fraction | None = None
    """Upper bound on the probability that the method accepts what it should reject; null in rejections, and if the
    method has none."""
    reason: str
    """The verdict in one sentence."""
    evidence: Evidence
    usage: Usage
    source: Name
    model: Name
    """The subject: the model whose output was checked."""
    kind: Name | None = None
    """The record's; null if it did not come from a topic."""
    tenant: Name | None = None
    """The record's."""
    trace: OptionalTrace = None
    """The record's, or that of its message's `traceparent`."""
    judge: str
    """Name of the model that was asked; of a cascade, the one that decided."""
    cascade: Cascade | None = None
    """Null if there is one judge."""
    origin: Origin | None = None
    """Position of the record; null if it did not come from a topic."""
    share: Share = 1.0
    """The share of such records that the routing rule takes which took this one: the verdict stands for 1/share
    records."""
    rechecked: bool = False
    """True if `assay recheck` asked for it: an output of the past, which counts in no rate and raises no alert."""
    exchanges: tuple[str, ...] = ()
    """Digests of the questions that were asked, by which a recording of the model (`recording`) has them; empty where
    nothing is recorded."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """The record's metadata under the keys of `records.version_metadata`."""
    attributes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What rejects may have in common: under `document` the names of the record's documents, under `metadata.KEY` what
    its metadata says; at most 16 of each, cut after 100 characters."""
    occurred_at: Timestamp | None = None
    """Time when the output was produced, as its record says; null if it does not say."""
    checked_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))

    @model_validator(mode="after")
    def _score_unless_abstaining(self) -> "Verdict":
        if (self.score is None) != (self.outcome == "abstain"):
            raise ValueError(f"outcome {self.outcome!r} with score {self.score!r}: abstain, and only abstain, has none")
        return self


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


ImprovementStatus = Literal["improved", "not_improved", "not_tried"]
"""`improved`: the last check accepts every sentence. `not_improved`: the writer answered, but some sentences stayed
inconsistent or the check of the rewritten response abstained. `not_tried`: the record is gone, has no reference to
rewrite it by, or the writer gave no usable answer."""


class SentenceChange(Wire):
    """A sentence that was rewritten. All other sentences are unchanged, byte for byte."""

    before: Text
    after: Text
    """Empty if the sentence was removed, together with its list marker and the white space before it."""
    start: int
    """Offset of `before` in the response of the previous round, in code points."""
    end: int
    """Offset behind `before`, in code points."""
    reason: str
    """The writer's reason."""


class ImprovementRound(Wire):
    """One round of rewriting and checking again (DCR, section 3.3)."""

    response: Text
    """The whole response after this round."""
    changes: tuple[SentenceChange, ...]
    outcome: Outcome
    """Outcome of the re-check."""
    score: Fraction | None
    """Score of the re-check; null if it abstained."""
    consistent_share: Fraction | None
    """The paper's score of the re-check. A score of 1 ends the rounds."""
    findings: tuple[SentenceFinding, ...] = ()
    """Findings of the re-check, sentence by sentence."""


class Improvement(Wire):
    """The result of improving a rejected response."""

    id: Name
    """Derived from the verdict, the improver and its configuration: the same after redelivery."""
    verdict_id: Name
    """The verdict that rejected it."""
    record_id: Name
    checker: Name
    improver: Name
    improver_version: Name
    config_digest: Name
    status: ImprovementStatus
    before: Text | None
    """The rejected response; null if its record is gone."""
    after: Text | None
    """The response of the last round; null if nothing was rewritten."""
    score_before: Fraction | None
    score_after: Fraction | None
    rounds: tuple[ImprovementRound, ...] = ()
    inconsistent: tuple[SentenceFinding, ...] = ()
    """Sentences that the last check found inconsistent: of `after`, or of `before` if `after` is null. Empty if that
    check abstained."""
    reason: str
    """The result in one sentence."""
    usage: Usage
    """Cost of rewriting and checking again."""
    source: Name
    model: Name
    """The subject: the model whose output was rejected."""
    writer: str
    """Name of the model that rewrote."""
    judge: str
    """Name of the judge of the re-check; empty if nothing was checked again."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    """Digests of the writer's prompt templates by name."""
    origin: Origin | None = None
    """Position of the record."""
    improved_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
