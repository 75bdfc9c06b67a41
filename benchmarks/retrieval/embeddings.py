"""False matches of an embedding model on MeTMaP's triplets, by relation and metric."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, islice
from pathlib import Path

from benchmarks.datasets import rows as rows_of
from benchmarks.tables import table
from lab.audit.cases import METRICS, Figure, Groups, Triplet, all_cases, read_triplets
from lab.audit.embedding import SentenceTransformerModel, encoded
from lab.audit.measuring import embedding_figures
from lab.report import draw

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
    encodings = encoded(model, {text for case in all_cases(groups) for text in case})
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
            lines.append([figure.relation, *shares, *figure.distances])
    return table(["relation", "accuracy", "control", "unrelated", "to positive", "to negative"], lines)
