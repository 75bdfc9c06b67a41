"""Evidence: what a verdict is based on; one class for each method, told apart by `type`."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from schemas.base import Fraction, Name, Wire
from schemas.equivalence import EquivalenceEvidence
from schemas.extraction import ExtractionEvidence
from schemas.records import ProbeStatement, Turn


class JudgedSentence(Wire):
    """A sentence of a response, and why it is judged as it is."""

    text: str
    start: int
    """Offset of the sentence in the response, in code points."""
    end: int
    """Offset behind the sentence, in code points."""
    reason: str


class SelfTestFigure(Wire):
    """How a judge did on built-in pairs before its first verdict."""

    form: str
    """The form in which it is asked."""
    accuracy: float
    """Mean of the shares of supported and of other answers that it judged rightly, 0 to 1."""
    pairs: int


class Judged(Wire):
    """What evidence tells of the judge, and of thresholds on the verdict's score."""

    accept_from: float | None = None
    """The response is accepted if the verdict's `score` is at least this; null if scores accept nothing."""
    reject_below: float | None = None
    """The response is rejected if the verdict's `score` is below this; null if scores reject nothing."""
    judge_version: str = ""
    """Form, digest of the prompts and threshold of a judge that is asked by prompts; empty for others."""
    self_test: SelfTestFigure | None = None
    """How that judge did in its self-test."""


class EarlierAnswer(Wire):
    """An earlier answer of the session that a sentence contradicts."""

    record_id: Name
    sentence: str


class SentenceFinding(JudgedSentence):
    """Finding about one sentence of a response."""

    mark: Literal[-1, 1]
    """1: consistent. -1: not consistent."""
    support: float
    """Degree of support by the reference, 0 to 1; from one half on the sentence is consistent."""
    passage: str | None = None
    """The decisive passage of the reference; null if the judge names none."""
    unsure: bool = False
    """True if the judge leaves open whether it is consistent."""
    contradicts: EarlierAnswer | None = None
    """The earlier answer of the session that it contradicts; null if it contradicts none, or none was looked at."""


class SampleAgreement(Wire):
    """Agreement of a response with one further sample (self-consistency)."""

    sample: int
    """Index into the record's `samples`."""
    score: float
    inconsistent: tuple[int, ...]
    """Indices of the response's sentences that the sample does not support."""


class ConsistencyEvidence(Judged):
    """DCR: findings sentence by sentence, and the score made of them (paper, sections 3.1 and 3.2)."""

    type: Literal["consistency"] = "consistency"
    task: str
    against: Literal["reference", "contexts", "samples", "session"]
    """`session`: of a record that has nothing else, the earlier answers alone."""
    sentences: tuple[SentenceFinding, ...]
    """Those that claim something."""
    without_claim: tuple[JudgedSentence, ...] = ()
    """Those that claim nothing (a greeting, a lead-in, a question back), which count for nothing."""
    consistent_share: float
    """The paper's score: (mean of marks + 1) / 2. The verdict's own `score` is made of the supports, so it ranks."""
    samples: tuple[SampleAgreement, ...] = ()
    earlier: tuple[Turn, ...] = ()
    """The earlier turns of the session whose answers it must not contradict, the oldest first."""


Label = int | bool | str
"""A label of a rubric."""


class LabellingRound(Wire):
    """One round: the labeller's commitment, the challenge and its result."""

    number: int
    similar: JsonValue
    """x', the labeller's own datapoint, which should be similar to x."""
    label: Label
    """y', the label that the labeller gives to x."""
    commitment: str
    """SHA-256 of seed, round, x' and y', computed before the challenge was drawn."""
    challenge: Literal["permutation", "isomorphism"]
    """`permutation`: the relevant parts of x and x' are equal up to permutation, over the total rubric. `isomorphism`:
    C(x') = C(x)."""
    passed: bool
    fault: Literal["echo", "unmatched_part", "other_encoding", "too_far"] | None
    encoding: tuple[int, ...]
    """Encoding of x: a bit for each of the run's `total_criteria` (permutation) or `criteria` (isomorphism); empty if
    the fault is `echo`."""
    similar_encoding: tuple[int, ...]
    """Encoding of x'."""
    unmatched: JsonValue = None
    """The part of x that is similar to no part of x'; null if there is none."""
    distance: float | None = None
    """Distance of the two encodings; null unless the second challenge is relaxed."""


class LabellingRun(Wire):
    """One game on a rubric with two labels."""

    rubric: str
    rubric_version: str
    criteria: tuple[str, ...]
    total_criteria: tuple[str, ...]
    """The criteria, and the clauses of compound criteria."""
    labels: tuple[Label, Label]
    """The labels that the bits 0 and 1 stand for."""
    rounds: tuple[LabellingRound, ...]
    """The rounds that were played. A failed challenge ends the game."""
    succeeded: bool
    holds: tuple[int, ...] | None = None
    """The labeller's own bit for each criterion of x, by the reasons for its label; null if it gave none."""
    encoding: tuple[int, ...] | None = None
    """C(x), to be compared with them; null unless every challenge was passed."""
    follows: Label | None = None
    """The label that `holds` come to, to be compared with y'; null where `encoding` is."""


class LabellingEvidence(Wire):
    """The evaluator-verifier protocol of the No-Data Algorithm on one datapoint."""

    type: Literal["labelling"] = "labelling"
    rubric: str
    """Name of the rubric."""
    datapoint: JsonValue
    claimed: Label
    """The label in the record."""
    revealed: Label
    """The last y': the label that the labeller commits to in the protocol."""
    succeeded: bool
    """True if every challenge was passed. The share of records where it is true is the labeller's success rate."""
    contradicted: bool
    """True if `claimed` differs from `revealed`. By default that rejects the record also where all challenges were
    passed."""
    unfounded: bool = False
    """True if, in a run, `holds` and `encoding` differ, or y' is not what `follows`. By default that rejects the record
    also where all challenges were passed."""
    rounds: int
    """Number of rounds to pass."""
    seed: str
    """Seed of all random draws."""
    runs: tuple[LabellingRun, ...]
    """One run if there are two labels; k - 1 runs of one label against the rest if there are k."""
    paper_error_bound: float | None
    """(1/4)^rounds. The verdict's `error_bound` is (1/2)^rounds, since a cheater can prepare for either challenge. Both
    are null if the record is rejected, and if the second challenge is relaxed: then neither bound holds."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    unparsable: int = 0
    """Number of questions that were asked again because the labeller's answer could not be read."""


class DirectionFinding(Wire):
    """The degree to which one text entails another."""

    score: float
    """0 to 1; only 0 or 1 if the judge answers yes or no."""
    reason: str | None = None
    passage: str | None = None
    """The decisive passage; null if the judge names none."""


class TextMatch(Wire):
    """Text matching of a stored text and the query."""

    id: str
    text: str
    vector_score: float
    """The store's score, by the record's metric."""
    score: float
    """0 to 1: the score of the direction that the store needs, or the lower of the two if it needs both."""
    text_to_query: DirectionFinding
    """The degree to which the stored text entails the query, or answers it if `is_question`."""
    query_to_text: DirectionFinding | None = None
    """The degree to which the query entails the stored text; null if `is_question`, as nothing follows from a
    question."""


class RetrievalEvidence(Wire):
    """MeTMaP: a search result matched as text in both directions."""

    type: Literal["retrieval"] = "retrieval"
    store: Literal["knowledge", "cache"]
    metric: str | None = None
    needs: tuple[Literal["text_to_query", "query_to_text"], ...]
    """Directions that this kind of store needs: both for a cache, `text_to_query` for a knowledge store."""
    query: str
    is_question: bool = False
    """True if the query is a question to a knowledge store, so that the text has to answer it."""
    matched: TextMatch
    candidates: tuple[TextMatch, ...] = ()
    """The other search results, closest by the store's metric first."""
    left_out: int = 0
    """Number of candidates beyond the limits in the settings."""
    better: TextMatch | None = None
    """The candidate that text matching prefers to the matched text; null if there is none."""
    threshold: float
    """The matched text is accepted if its score is at least this."""
    judge_version: str = ""
    """As of consistency evidence."""
    self_test: SelfTestFigure | None = None
    """As of consistency evidence."""


class CriterionEvidence(Judged):
    """A question in a user's own words about a response; the verdict's score is the probability that it is kept."""

    type: Literal["criterion"] = "criterion"
    ask: str
    reject_if: Literal["yes", "no"]
    quote: str | None = None
    """The words at fault, word for word; null if the response is accepted, or the judge quoted none of it."""


class ProbeEvidence(ProbeStatement):
    """A subject's answer to a question on a fact, and the right one (LINT, section 4)."""

    type: Literal["probe"] = "probe"
    template: int
    """Number of the template that the question was made with."""
    polarity: Literal["positive", "negative"]
    """`positive` if the right answer affirms; `negative` if it denies, and of the template that depends on the
    conclusion's sign."""
    question: str
    expected: str
    """The right answer."""
    answer: str
    """The subject's answer, as it gave it."""
    reasoning: str | None = None
    """The subject's words before it; null if it was asked for the answer alone."""


class CallFinding(Wire):
    """What the judge says of a value, or of how the response tells that the tool failed."""

    name: str
    """Name of the argument; of one within an object with the names before it: `address.city`. Else `(response)`."""
    value: str
    """The text, or the value as JSON; cut off if it is long."""
    finding: Literal["supported", "unsupported", "unsure"]
    """`unsure`: the judge leaves it open."""
    support: Fraction
    """Degree to which the value follows from what was said, or a failure from the response."""
    reason: str


class ToolCallEvidence(Judged):
    """A tool call: its name and arguments by the tools' schemas, its values by what was said, its result as told."""

    type: Literal["tool_call"] = "tool_call"
    tool: str
    """Name of the tool that was called."""
    fault: Literal["unknown_tool", "unparsable", "schema", "argument", "told_as_success"] | None
    """Why the call is rejected; null if it is not."""
    faults: tuple[str, ...] = ()
    """Everything that is at fault, in words."""
    schema_untested: str | None = None
    """Why the arguments were not compared with all of the tool's schema; null if they were."""
    findings: tuple[CallFinding, ...] = ()
    """Empty if no judge was asked."""


JudgeCause = Literal[
    "judge_failed",
    "judge_unusable",
    "judge_refused",
    "judge_filtered",
    "judge_cut_off",
    "judge_slow",
    "too_long",
    "budget",
]
"""Why a question gets no answer. `judge_failed`: the endpoint refuses it or fails on it. `judge_unusable`: the replies
do not have the form asked for. `judge_refused`: the model declines. `judge_filtered`: a content filter of the endpoint.
`judge_cut_off`: the token limit, with nothing whole before it. `judge_slow`: no answer in time from an endpoint that
answers other questions. `too_long`: beyond the model's window."""

GraderCause = Literal["no_claim", "unsupported_language"]
"""Why no claim is judged. `no_claim`: the response claims nothing (a greeting, a refusal). `unsupported_language`: the
judge of this machine cannot read its language."""

SubjectCause = Literal[
    "subject_failed",
    "subject_unusable",
    "subject_refused",
    "subject_filtered",
    "subject_cut_off",
    "subject_slow",
    "too_long",
    "budget",
]
"""The same, of a subject."""

AbstentionCause = Literal[
    "no_checker",
    "no_reference",
    "no_subject",
    "no_rubric",
    "unknown_label",
    "no_candidate",
    "no_entity",
    "no_replacement",
    "no_paraphrase",
    "empty_response",
    "empty_text",
    "unparsable",
    JudgeCause,
    GraderCause,
    "judge_misled",
    "between_thresholds",
    SubjectCause,
    "timeout",
]


class Abstention(Wire):
    """The reason why a checker could not decide."""

    type: Literal["abstention"] = "abstention"
    cause: AbstentionCause
    detail: str
    score: Fraction | None = None
    """The score that lies between the thresholds; null if there is none."""
    graded: ConsistencyEvidence | None = None
    """The sentences with their grades, which leave the outcome open; null if the cause is another."""
    probe: ProbeEvidence | None = None
    """The probe whose answer is missing or could not be read; null of any other record."""


class PluginEvidence(Wire):
    """Evidence of a checker that is not part of this package."""

    type: Literal["plugin"] = "plugin"
    checker: str
    findings: dict[str, JsonValue]


Evidence = Annotated[
    ConsistencyEvidence
    | LabellingEvidence
    | RetrievalEvidence
    | EquivalenceEvidence
    | ExtractionEvidence
    | ProbeEvidence
    | CriterionEvidence
    | ToolCallEvidence
    | Abstention
    | PluginEvidence,
    Field(discriminator="type"),
]
"""Evidence of any method; `type` discriminates."""
