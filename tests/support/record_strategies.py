"""Hypothesis strategies for what travels, as producers may send it."""

from typing import Any

from hypothesis import strategies as st

from schemas import RECORD_TYPES

_KNOWN = {name for record_type in RECORD_TYPES for name in record_type.model_fields}

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\n\r\t\x1b"), max_size=60)
names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1, max_size=40)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
moments = st.datetimes().map(lambda moment: moment.isoformat() + "Z")
unknown_fields = st.dictionaries(names.filter(lambda name: name not in _KNOWN), json_values, max_size=3)

_matched = st.fixed_dictionaries({"id": names, "text": texts, "score": st.floats(-1, 1)})

_bodies: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "generation": {"response": texts},
    "paraphrase": {"sentence1": texts, "sentence2": texts, "answer": st.booleans()},
    "extraction": {"text": texts, "entities": st.lists(texts, max_size=4)},
    "labelling": {"datapoint": json_values, "rubric": names, "label": st.integers(-9, 9) | st.booleans() | texts},
    "retrieval": {"store": st.sampled_from(["knowledge", "cache"]), "query": texts, "matched": _matched},
    "probe": {
        "statement": st.fixed_dictionaries({"premise": texts, "conclusion": texts}),
        "template": st.integers(1, 13),
        "question": texts,
        "expected": texts,
        "answer": texts,
    },
    "tool_call": {"name": texts, "arguments": st.dictionaries(texts, json_values, max_size=3) | texts},
}
_optional_bodies: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "generation": {
        "task": st.sampled_from(["summary", "answer", "paraphrase", None]),
        "prompt": st.none() | texts,
        "reference": st.none() | texts,
        "contexts": st.lists(texts, max_size=3),
        "samples": st.lists(texts, max_size=3),
    },
    "retrieval": {"metric": st.none() | names, "candidates": st.lists(_matched, max_size=2)},
    "tool_call": {
        "tools": st.lists(st.fixed_dictionaries({"name": texts}, optional={"description": texts}), max_size=2),
        "prompt": st.none() | texts,
        "contexts": st.lists(texts, max_size=3),
        "result": json_values,
        "is_error": st.none() | st.booleans(),
        "response": st.none() | texts,
    },
}
_optional_envelope: dict[str, st.SearchStrategy[Any]] = {
    "id": names,
    "occurred_at": moments,
    "tenant": st.none() | names,
    "session": st.none() | names,
    "metadata": st.dictionaries(texts, json_values, max_size=3),
}


def documents_of(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects that are records of `kind`: the required fields, any of the optional ones, any unknown ones."""
    known = st.fixed_dictionaries(
        {"kind": st.just(kind), "source": names, "model": names, **_bodies[kind]},
        optional={**_optional_envelope, **_optional_bodies.get(kind, {})},
    )
    return st.builds(lambda unknown, document: {**unknown, **document}, unknown_fields, known)


documents = st.sampled_from(sorted(_bodies)).flatmap(documents_of)
"""JSON objects that are records, of every kind."""
