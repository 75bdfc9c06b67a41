"""Triplets {base | positive, negative}, where the negative only looks like the base; their files, cases and counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import orjson
from pydantic import AliasChoices, BeforeValidator, Field, StringConstraints, TypeAdapter, ValidationError

from assay.cli.common import CannotRun
from checkers.lines import numbered_lines
from lab.audit.relations import Relation
from schemas import explain

_AUTHORS: Mapping[object, Relation] = {
    "obj_sub": "object_substitution",
    "verb_sub": "action_substitution",
    "nega_exp": "negative_expression",
    "word_del": "word_deletion",
    "num_sub": "quantifier_substitution",
    "err_translate": "back_translation_error",
    "err_nli": "inference_error",
}
"""The names of relations in the data of the paper's authors, if different."""


_Sentence = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]


@dataclass(frozen=True, slots=True)
class Triplet:
    """One test case: whatever matches the base should find the positive closer than the negative."""

    id: Annotated[str, BeforeValidator(lambda given: f"{given}" if type(given) is int else given)]
    relation: Annotated[
        Relation,
        BeforeValidator(lambda name: _AUTHORS.get(name, name) if isinstance(name, str) else name),
        Field(validation_alias=AliasChoices("relation", "mr")),
    ]
    """The edit that makes the negative of the base."""
    base: _Sentence
    positive: _Sentence
    negative: _Sentence
    unrelated: Annotated[_Sentence | None, Field(validation_alias=AliasChoices("unrelated", "unrelated_negative"))] = (
        None
    )
    """A text about something else."""


_TRIPLET = TypeAdapter(Triplet)

Groups = Mapping[str, Sequence[Triplet]]
"""Triplets by relation, or by any other name that they are counted under."""


def read_triplets(path: Path) -> Iterator[Triplet]:
    """The triplets of a file of JSON lines, one by one; without an id a triplet is named by the file and its line."""
    number = 0
    for number, line in numbered_lines(path, CannotRun):
        try:
            document = orjson.loads(line)
            named = {"id": f"{path.stem}-{number}", **document} if isinstance(document, dict) else document
            triplet = _TRIPLET.validate_python(named)
        except ValidationError as error:
            raise CannotRun(f"{path}:{number}: {explain(error)}") from None
        except orjson.JSONDecodeError as error:
            raise CannotRun(f"{path}:{number}: not JSON: {error}") from None
        yield triplet
    if not number:
        raise CannotRun(f"{path}: holds no triplet")


def write_triplets(path: Path, triplets: Iterable[Triplet]) -> None:
    """Write JSON lines that `read_triplets` reads."""
    with path.open("wb") as stream:
        stream.writelines(orjson.dumps(asdict(triplet), option=orjson.OPT_APPEND_NEWLINE) for triplet in triplets)


def read_texts(path: Path, *, limit: int) -> list[str]:
    """The first `limit` distinct texts of a file, one a line."""
    found: dict[str, None] = {}
    for number, line in numbered_lines(path, CannotRun):
        try:
            found[line.decode()] = None
        except UnicodeDecodeError as error:
            raise CannotRun(f"{path}:{number}: byte {error.start} is not UTF-8") from None
        if len(found) == limit:
            break
    if not found:
        raise CannotRun(f"{path}: holds no text")
    return list(found)


Kind = Literal["triplet", "control", "unrelated"]
"""`triplet`: the negative of the relation. `control`: the other one's positive, in the cases (1, 2), (3, 4) and so on
whose bases differ: texts without the relation (paper, section 4.2). `unrelated`: the one that came with the triplet."""

KINDS: tuple[Kind, ...] = get_args(Kind)

Metric = Literal["cosine", "euclidean", "manhattan", "pearson", "bray_curtis", "lance_williams", "mahalanobis"]
"""The distances between vectors that the paper measures by."""

METRICS: tuple[Metric, ...] = get_args(Metric)

Case = tuple[str, str, str]
"""Base, positive and negative: a matcher is right if it finds the positive closer to the base."""


def cases(triplets: Sequence[Triplet], kind: Kind) -> Iterator[Case]:
    """The cases of this kind, in the triplets' order."""
    for place, triplet in enumerate(triplets):
        negative: str | None = triplet.negative
        if kind == "unrelated":
            negative = triplet.unrelated
        elif kind == "control":
            # An odd one at the end has no neighbour; the positive of one with the same base would be right too.
            neighbour = triplets[place ^ 1] if place ^ 1 < len(triplets) else triplet
            negative = neighbour.positive if neighbour.base != triplet.base else None
        if negative is not None:
            yield triplet.base, triplet.positive, negative


def all_cases(groups: Groups) -> list[Case]:
    """The cases of all kinds, in an audit of these triplets."""
    return [case for triplets in groups.values() for kind in KINDS for case in cases(triplets, kind)]


@dataclass(frozen=True, slots=True)
class Count:
    """The number of cases decided, by outcome."""

    cases: int = 0
    right: int = 0
    ties: int = 0
    """Both as close: wrong, for nothing then speaks for the positive."""

    @property
    def accuracy(self) -> float | None:
        """The share of right ones; None if there was no case."""
        return self.right / self.cases if self.cases else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The counts of one model or store by one metric under one relation."""

    subject: str
    metric: str
    relation: str
    counts: Mapping[Kind, Count]
    """A kind without a case has no count."""
    distances: tuple[float, float] | None = None
    """Mean distance of the triplets' positives from their bases, and of the negatives."""
    missing: str | None = None
    """Why nothing could be measured."""

    def accuracy(self, kind: Kind = "triplet") -> float | None:
        """The share of right cases of a kind; None if there was none."""
        return self.counts.get(kind, Count()).accuracy
