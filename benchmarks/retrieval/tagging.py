"""The share of cases in which tagging names the relation that a data set states.

MeTMaP's triplets state a relation for base and negative. The probes of function words state none for a pair: where two
hypotheses of one context have the same words but for a "not", what it asks for (do, does, did, an inflection) and
nothing else, the relation is negative expression, whatever function word the probe is about.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from benchmarks.datasets import rows
from benchmarks.tables import table
from lab.audit.relations import RELATIONS, WORD_LEVEL, Relation, relation_of

STATED: dict[str, Relation] = {
    "word_swap": "word_swap",
    "obj_sub": "object_substitution",
    "verb_sub": "action_substitution",
    "word_del": "word_deletion",
    "num_sub": "quantifier_substitution",
    "err_translate": "back_translation_error",
    "err_nli": "inference_error",
}
PROBES = ("nli_negation", "nli_quantification")


class Pair(NamedTuple):
    """Two texts, and the relation that their data set states."""

    source: str
    relation: Relation
    query: str
    matched: str


def triplets(data: Path) -> Iterator[Pair]:
    """Base and negative of MeTMaP's triplets."""
    for name, relation in STATED.items():
        for row in rows(data, "metmap", f"{name}.jsonl"):
            yield Pair(name, relation, row["base"], row["negative"])


def negations(data: Path) -> Iterator[Pair]:
    """Pairs of hypotheses that a negation sets apart."""
    for name in PROBES:
        by_context: dict[str, list[str]] = {}
        for row in rows(data, "dnc_function_words", f"{name}.jsonl"):
            by_context.setdefault(row["context"], []).append(row["hypothesis"])
        for hypotheses in by_context.values():
            for one, other in combinations(dict.fromkeys(hypotheses), 2):
                if negated(one, other) or negated(other, one):
                    yield Pair(name, "negative_expression", one, other)


def negated(one: str, other: str) -> bool:
    """True if `other` is `one` with a "not", at most a form of "do", and at most one word in another form."""
    words, others = counted(one), counted(other)
    more, less = others - words, words - others
    if more["not"] != 1 or more.total() != less.total() + 1 + sum(more[word] for word in ("do", "does", "did")):
        return False
    forms = [word for word in more if word not in {"not", "do", "does", "did"}]
    return less.total() <= 1 and all(word[:2] == form[:2] for word in less for form in forms)


def counted(text: str) -> Counter[str]:
    """Count each word, contractions written out."""
    return Counter(re.findall(r"\w+", re.sub(r"\s*n['’]t\b", " not", text.lower()).replace("cannot", "can not")))


def print_tagging(data: Path) -> None:
    """Print agreement by set and relation over all rows of the files, and what was said instead."""
    pairs = [*triplets(data), *negations(data)]
    began = time.perf_counter()
    found: dict[tuple[str, Relation], Counter[Relation]] = {}
    backwards: Counter[tuple[str, Relation]] = Counter()
    for pair in pairs:
        key = pair.source, pair.relation
        found.setdefault(key, Counter())[relation_of(pair.query, pair.matched)] += 1
        backwards[key] += relation_of(pair.matched, pair.query) == pair.relation
    seconds = time.perf_counter() - began
    lines = []
    for (source, relation), counts in found.items():
        instead = ", ".join(f"{name} {counts[name]}" for name in RELATIONS if counts[name] and name != relation)
        total, back = counts.total(), backwards[source, relation]
        lines.append([source, relation, total, counts[relation] / total, back / total, instead or None])
    print(table(["set", "relation stated", "pairs", "agrees", "backwards", "said instead"], lines))
    word_level = {key: counts for key, counts in found.items() if key[1] in WORD_LEVEL}
    count = sum(counts.total() for counts in word_level.values())
    agreeing = sum(counts[relation] for (_, relation), counts in word_level.items())
    print(f"\nword level: {agreeing / count:.1%} of {count} pairs")
    print(f"{seconds / len(pairs) / 2 * 1000:.1f} ms a pair")
