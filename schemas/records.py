"""Records: what production systems put on the outputs topic, one model a kind."""

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import FailFast, Field, JsonValue, model_validator

from schemas.base import Name, Text, Timestamp, Wire
from schemas.ids import content_id

# One bad item condemns a list: faults are not collected over a million of them.
Texts = Annotated[tuple[Text, ...], FailFast()]


class Envelope(Wire):
    """What every record carries, whatever its kind."""

    id: Name = ""
    """Unique within `source`; derived from the content where the producer gave none."""
    occurred_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
    """When the output was produced; the time of reading where the producer gave none."""
    source: Name
    """The application or feature that produced the output."""
    model: Name
    """The subject: the deployed model whose output this is."""
    tenant: Name | None = None
    session: Name | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _derive_id(self) -> Self:
        if not self.id:
            # What the producer said counts, not what was filled in: a rerun of the same bytes gives the same id.
            said = self.model_dump(mode="json", exclude_unset=True)
            object.__setattr__(self, "id", content_id("rec", said))
        return self


Task = Literal["summary", "answer", "paraphrase"]
"""What a response was meant to be: a summary of its reference, an answer from contexts, the same in other words."""


class Generation(Envelope):
    """A free-text response with what it can be held against."""

    kind: Literal["generation"]
    response: Text
    task: Task | None = None
    """Told from what is there when absent, see `effective_task`."""
    prompt: Text | None = None
    reference: Text | None = None
    """A source article, or the true answer."""
    contexts: Texts = ()
    """Retrieved passages the response was to be drawn from."""
    samples: Texts = ()
    """Other responses of the same subject to the same prompt, for self-consistency."""

    @property
    def effective_task(self) -> Task:
        """The stated task; else an answer where there is a question or contexts, a summary otherwise."""
        if self.task is not None:
            return self.task
        return "answer" if self.prompt or self.contexts or self.samples else "summary"


class Paraphrase(Envelope):
    """A decision of the subject whether two sentences mean the same."""

    kind: Literal["paraphrase"]
    sentence1: Text
    sentence2: Text
    answer: bool
    """True where the subject says that the sentences mean the same."""
    prompt: Text | None = None


class Extraction(Envelope):
    """Entities that the subject found in a text."""

    kind: Literal["extraction"]
    text: Text
    entities: Texts
    prompt: Text | None = None


class Labelling(Envelope):
    """A label that the subject gave to a datapoint under a rubric."""

    kind: Literal["labelling"]
    datapoint: JsonValue
    rubric: Name
    label: int | bool | Text
    prompt: Text | None = None


class Matched(Wire):
    """A stored text that a vector match returned."""

    id: Name
    text: Text
    score: float
    """The store's own similarity; larger or smaller is closer, as the metric has it."""


class Retrieval(Envelope):
    """A hit of a knowledge store or of a semantic cache."""

    kind: Literal["retrieval"]
    store: Literal["knowledge", "cache"]
    query: Text
    matched: Matched
    metric: Name | None = None
    candidates: Annotated[tuple[Matched, ...], FailFast()] = ()
    prompt: Text | None = None


class ProbeStatement(Wire):
    """The rule behind a probe."""

    premise: Text
    conclusion: Text
    domain: Name | None = None
    distribution: Literal["head", "tail"] | None = None


class Probe(Envelope):
    """A question put to the subject on a rare fact, with its expected answer."""

    kind: Literal["probe"]
    statement: ProbeStatement
    template: int
    question: Text
    expected: Text
    answer: Text
    prompt: Text | None = None


Record = Annotated[
    Generation | Paraphrase | Extraction | Labelling | Retrieval | Probe,
    Field(discriminator="kind"),
]
"""Any record, told apart by `kind`."""

RECORD_TYPES: tuple[type[Envelope], ...] = (Generation, Paraphrase, Extraction, Labelling, Retrieval, Probe)
RECORD_KINDS: tuple[str, ...] = ("generation", "paraphrase", "extraction", "labelling", "retrieval", "probe")
