"""False matches of an embedding model on MeTMaP's triplets, by relation and metric, and what the audit costs."""

import time
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, groupby, islice, pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from benchmarks.datasets import paraphrases
from benchmarks.datasets import rows as rows_of
from benchmarks.tables import table
from lab.audit.cases import METRICS, Figure, Groups
from lab.audit.encoding import SentenceTransformerModel, encoded
from lab.audit.heat_map import draw
from lab.audit.measuring import embedding_figures, sentences_of
from lab.triplets import Triplet, read_triplets

FILES = {
    "word_swap": "word swap",
    "verb_sub": "action substitution",
    "obj_sub": "object substitution",
    "err_translate": "back translation error",
    "word_del": "word deletion",
    "num_sub": "quantifier substitution",
    "err_nli": "inference error",
}
"""The sets of the authors' data, and what they are called here."""

CATEGORIES = ("negation", "quantification", "prepositions", "spatial", "comparatives")
"""Those of the function-word probes."""

PICTURE = Path(__file__).parents[1] / "pictures" / "metmap.svg"

SPEED_TRIPLETS = 5000

_HIGHEST_RATIO = 1.15

_Result = TypeVar("_Result")


def metmap(data: Path, rows: int | None) -> dict[str, list[Triplet]]:
    """The first rows of each set."""
    folder = data / "metmap"
    return {
        f"metmap: {name}": list(islice(read_triplets(folder / f"{file}.jsonl"), rows)) for file, name in FILES.items()
    }


def function_words(data: Path) -> dict[str, list[Triplet]]:
    """The probes as triplets, by category.

    A probe is a context and hypotheses about it. The context is the base, a hypothesis that it entails the positive;
    of those that it does not entail, the one written most like the positive is the negative: mostly the same sentence
    with or without the function word. Contexts without both kinds give none.
    """
    return {f"probes: {category}": list(_probed(data, category)) for category in CATEGORIES}


def _probed(data: Path, category: str) -> Iterator[Triplet]:
    hypotheses: dict[str, dict[bool, list[str]]] = {}
    for row in rows_of(data, "dnc_function_words", f"nli_{category}.jsonl"):
        about = hypotheses.setdefault(row["context"].strip(), {True: [], False: []})
        about[row["label"] == "entailment"].append(row["hypothesis"].strip())
    for context, about in hypotheses.items():
        for text in about[True] if about[False] else ():
            alike = [(SequenceMatcher(None, text, one, autojunk=False).ratio(), one) for one in about[False]]
            yield Triplet(category, "other", context, text, max(alike)[1])


def print_accuracy(name: str, data: Path, rows: int | None) -> None:
    """Print accuracy by relation and metric with the control, mean distances, and draw the picture."""
    model = SentenceTransformerModel(name)
    groups: Groups = {**metmap(data, rows), **function_words(data)}
    encodings = encoded(model, sentences_of(groups))
    found = list(embedding_figures(model.name, encodings, groups, METRICS))
    print(f"{model.name}\n")
    print(_accuracies(found))
    print("\nBy cosine: control, the data's unrelated text, mean distances\n")
    print(_cosine(found))
    draw(found, PICTURE)
    print(f"\npicture: {PICTURE}")


def _accuracies(found: Sequence[Figure]) -> str:
    lines: list[list[object]] = []
    for relation, own in groupby(found, key=lambda figure: figure.relation):
        by_metric = list(own)
        whole = next(figure.counts for figure in by_metric if not figure.missing)
        lines.append([relation, whole["triplet"].cases, *(figure.accuracy() for figure in by_metric)])
        lines.append(["  control", whole["control"].cases, *(figure.accuracy("control") for figure in by_metric)])
    return table(["relation", "cases", *METRICS], lines)


def _cosine(found: Sequence[Figure]) -> str:
    lines: list[list[object]] = []
    for figure in found:
        if figure.metric == "cosine" and figure.distances is not None:
            shares = [figure.accuracy(), figure.accuracy("control"), figure.accuracy("unrelated")]
            lines.append([figure.relation, *shares, figure.distances.positive, figure.distances.negative])
    return table(["relation", "accuracy", "control", "unrelated", "to positive", "to negative"], lines)


def print_speed(name: str, data: Path) -> None:
    """Print what the audit of 5,000 triplets by all metrics takes, against encoding their sentences and no more."""
    model = SentenceTransformerModel(name)
    known = metmap(data, None)
    missing = SPEED_TRIPLETS - sum(len(triplets) for triplets in known.values())
    groups: Groups = {**known, "filled up from paraphrases": list(islice(_filled(data), max(missing, 0)))}
    sentences = list(dict.fromkeys(_plain_sentences(groups)))
    model.encode(sentences[:64])
    bare_wall, bare_busy, _ = _timed(lambda: model.encode(sentences))
    within = _Watched(model)

    def audit() -> list[Figure]:
        return list(embedding_figures(model.name, encoded(within, sentences_of(groups)), groups, METRICS))

    wall, busy, _ = _timed(audit)
    count = sum(len(triplets) for triplets in groups.values())
    print(f"{count} triplets, {len(sentences)} distinct sentences, 7 metrics, control\n")
    print(
        table(
            ["", "seconds", "seconds of processor"],
            [
                ["bare encoding, one call of the library", bare_wall, bare_busy],
                ["audit", wall, busy],
                ["of it the library's encoding", within.wall, within.busy],
                ["of it all else", wall - within.wall, busy - within.busy],
            ],
        )
    )
    ratios = (
        ("audit / bare encoding", wall / bare_wall, busy / bare_busy),
        ("audit / encoding within it", wall / within.wall, busy / within.busy),
    )
    print()
    for measure, clock, processor in ratios:
        print(f"{measure}: {clock:.3f} by the clock, {processor:.3f} of processor time")
    print(f"(at most {_HIGHEST_RATIO} is promised; the second is the same where other programs come and go meanwhile)")


def _plain_sentences(groups: Groups) -> Iterator[str]:
    """Those of the triplets themselves, without what only the data's own control needs."""
    for triplet in chain.from_iterable(groups.values()):
        yield from (triplet.base, triplet.positive, triplet.negative)


def _filled(data: Path) -> Iterator[Triplet]:
    pairs = chain(paraphrases(data, "msrp_test_part"), paraphrases(data, "paws_wiki"))
    for number, (one, following) in enumerate(pairwise(pairs)):
        yield Triplet(f"pair-{number}", "other", one.references[0], one.response, following.response)


class _Watched:
    """A model, and how long it was at work."""

    def __init__(self, model: SentenceTransformerModel) -> None:
        self.name = model.name
        self.wall = self.busy = 0.0
        self._model = model

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        wall, busy, rows = _timed(lambda: self._model.encode(sentences))
        self.wall += wall
        self.busy += busy
        return rows


def _timed(work: Callable[[], _Result]) -> tuple[float, float, _Result]:
    """Seconds by the clock, seconds of processor time in all threads, and the result."""
    wall, busy = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - busy, result
