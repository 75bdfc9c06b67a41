"""Evidence: why a verdict is what it is; one model a method, told apart by `type`."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from schemas.base import Wire
from schemas.equivalence import EquivalenceEvidence
from schemas.word_differences import WordDifference


class SentenceFinding(Wire):
    """What was found about one sentence (or, in paragraph granularity, about the whole) of a response."""

    text: str
    start: int
    """Offset of the sentence in the response, in code points."""
    end: int
    mark: Literal[-1, 1]
    """1 consistent, -1 not."""
    support: float | None = None
    """How far the reference supports it, 0 to 1, from a judge that grades; null from one that says yes or no."""
    reason: str
    passage: str | None = None
    """The passage of the reference that decided, where the judge names one."""
    converted: Literal["opening", "asked", "graded", "flag", "samples"]
    """How it was marked: by the reason's fixed opening words, by asking (AMC), from the judge's grade, from its flag
    (DCE alone), or by what most samples say."""


class SampleAgreement(Wire):
    """Self-consistency: how a response stands against one other sample."""

    sample: int
    """Index into the record's `samples`."""
    score: float
    inconsistent: tuple[int, ...]
    """Indices of the sentences that this sample does not support."""


class ConsistencyEvidence(Wire):
    """DCR: what was found sentence by sentence, and how the score was made of it (paper, sections 3.1 and 3.2)."""

    type: Literal["consistency"] = "consistency"
    task: str
    granularity: Literal["sentence", "paragraph"]
    marks_from: Literal["reasons", "flag"]
    """`flag` is DCE alone: the judge's own word for the whole."""
    against: Literal["reference", "contexts", "samples"]
    sentences: tuple[SentenceFinding, ...]
    is_consistent: bool | None = None
    """The judge's own flag for the whole candidate, where it gives one."""
    consistent_share: float
    """The paper's score: ((sum of marks + alpha) / (entries + beta) + 1) / 2."""
    alpha: int = 0
    beta: int = 0
    threshold: float
    """A response whose consistent share reaches this is accepted."""
    samples: tuple[SampleAgreement, ...] = ()
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    calls_saved: int = 0
    """AMC questions that fixed opening words made needless."""
    asked_again: int = 0
    """Sentences that the judge left out or merged and was asked about once more; at least 1 if it invented any."""
    invented: int = 0
    """Entries of the judge that, asked again too, were no sentence of the response; they count for nothing."""


Label = int | bool | str
"""What a datapoint is called under a rubric."""


class LabellingRound(Wire):
    """One round: what the labeller committed to, what it was challenged with, and what came of it."""

    number: int
    similar: JsonValue
    """x', the labeller's own datapoint that is to be like x."""
    label: Label
    """y', its label."""
    commitment: str
    """SHA-256 over seed, round, x' and y', made before the challenge was drawn."""
    challenge: Literal["permutation", "isomorphism"]
    """Equality up to permutation: the relevant parts of x and x', over the total rubric. Equality up to isomorphism:
    C(x') = C(x)."""
    passed: bool
    fault: Literal["echo", "unmatched_part", "other_encoding", "too_far", "claims_differ"] | None
    encoding: tuple[int, ...]
    """Of x: a bit for each of the run's `total_criteria` (permutation) or `criteria` (isomorphism); empty for an echo,
    which is not looked at any further."""
    similar_encoding: tuple[int, ...]
    """Of x' likewise; where claims are compared, the labeller's claim about x."""
    unmatched: JsonValue = None
    """The part of x that no part of x' is like."""
    distance: float | None = None
    """Between the two encodings, where the second challenge is relaxed."""


class LabellingRun(Wire):
    """One game on a rubric with two labels."""

    rubric: str
    rubric_version: str
    criteria: tuple[str, ...]
    total_criteria: tuple[str, ...]
    """With the clauses that compound criteria are opened into."""
    labels: tuple[Label, Label]
    """What the bits 0 and 1 stand for."""
    rounds: tuple[LabellingRound, ...]
    """Those that were played: a failed challenge ends the game."""
    succeeded: bool


class LabellingEvidence(Wire):
    """The No-Data Algorithm's evaluator-verifier protocol on one datapoint."""

    type: Literal["labelling"] = "labelling"
    rubric: str
    """As the record names it."""
    datapoint: JsonValue
    claimed: Label
    """The record's label."""
    revealed: Label
    """The last y', the label that the labeller stands by under the protocol."""
    succeeded: bool
    """Whether every challenge was passed: the trust figure is the share of records where it was."""
    contradicted: bool
    """Whether `claimed` is another label than `revealed`."""
    rounds: int
    """How many there are to pass."""
    seed: str
    """What all draws were made of."""
    runs: tuple[LabellingRun, ...]
    """One for two labels; for k labels, k - 1 of one against the rest."""
    paper_error_bound: float | None
    """(1/4)^rounds; the verdict's own bound is (1/2)^rounds, as a cheat can prepare for either challenge. Null where
    the second challenge is relaxed, for then neither holds."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    unparsable: int = 0
    """Questions that the labeller had to be asked again because its answer could not be read."""


class DirectionFinding(Wire):
    """How far one text entails another."""

    score: float
    """0 to 1; 0 or 1 from a judge that says yes or no."""
    reason: str | None = None
    passage: str | None = None
    """The passage that decided, where the judge names one."""


class TextMatch(Wire):
    """What text matching says of a stored text and the query."""

    id: str
    text: str
    vector_score: float
    """The store's own, by the record's metric."""
    score: float
    """0 to 1: the direction that the store needs, the lower one where it needs both."""
    text_to_query: DirectionFinding
    """Whether the stored text entails the query."""
    query_to_text: DirectionFinding


class RetrievalEvidence(Wire):
    """MeTMaP: a store's hit, matched as text in both directions, with the relation that a false match violates."""

    type: Literal["retrieval"] = "retrieval"
    store: Literal["knowledge", "cache"]
    metric: str | None = None
    needs: tuple[Literal["text_to_query", "query_to_text"], ...]
    """The directions that this kind of store needs: a cache both, a knowledge store that the text entails the query."""
    query: str
    matched: TextMatch
    relation: str | None = None
    """Of a rejected hit, by the paper's algorithm 1: `word_swap`, `object_substitution`, `action_substitution`,
    `negative_expression`, `word_deletion`, `quantifier_substitution`, `back_translation_error`, `inference_error`,
    `other`."""
    differences: tuple[WordDifference, ...] = ()
    """The words in which a rejected hit differs from the query."""
    candidates: tuple[TextMatch, ...] = ()
    """The others that came along, the closest by the store's metric first."""
    left_out: int = 0
    """Further candidates, beyond the settings' limits."""
    better: TextMatch | None = None
    """The candidate that text matching would have chosen, where that is another than the matched one."""
    threshold: float
    """A score that reaches this is accepted."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)


AbstentionCause = Literal[
    "no_checker",
    "no_reference",
    "no_subject",
    "no_rubric",
    "no_candidate",
    "empty_response",
    "empty_text",
    "unparsable",
    "judge_failed",
    "judge_unusable",
    "subject_failed",
    "subject_unusable",
    "too_long",
    "timeout",
    "budget",
]


class Abstention(Wire):
    """Why a checker could not decide."""

    type: Literal["abstention"] = "abstention"
    cause: AbstentionCause
    detail: str


class PluginEvidence(Wire):
    """Evidence of a checker that did not come with this package."""

    type: Literal["plugin"] = "plugin"
    checker: str
    findings: dict[str, JsonValue]


Evidence = Annotated[
    ConsistencyEvidence | LabellingEvidence | RetrievalEvidence | EquivalenceEvidence | Abstention | PluginEvidence,
    Field(discriminator="type"),
]
"""Any evidence, told apart by `type`."""
