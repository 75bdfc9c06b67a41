"""Arguments and schemas: the same faults as by the plain library, and nothing that anyone's schema could make of it."""

import socket
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from checkers.tool_call.json_schema import Untestable, schema_faults


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


_names = st.sampled_from(["a", "b", "c"])
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "2026-02-30"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_names, inner, max_size=2),
    max_leaves=4,
)
_leaves = st.sampled_from(
    [{}, True, False, {"type": "string"}, {"type": "integer", "minimum": 0}, {"enum": ["x", 1]}, {"minLength": 1}]
)
_schemas = st.recursive(
    _leaves,
    lambda inner: (
        st.builds(lambda one: {"type": "array", "items": one}, inner)
        | st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(
            lambda known, others, needed: _object(known, additionalProperties=others, required=needed),
            st.dictionaries(_names, inner, max_size=2),
            inner,
            st.lists(_names, max_size=1),
        )
    ),
    max_leaves=5,
)


@given(st.dictionaries(_names, _values, max_size=3), st.dictionaries(_names, _schemas, max_size=3), _schemas)
def test_arguments_fit_where_they_fit_by_the_plain_library(arguments, properties, others):
    schema = _object(properties, additionalProperties=others)
    faults, untested = schema_faults(arguments, schema)
    assert not untested
    assert bool(faults) is not Draft202012Validator(schema).is_valid(arguments)


@pytest.mark.parametrize(
    ("arguments", "schema", "path", "says"),
    [
        ({}, _object({"a": {}}, required=["a"]), "$", "'a' is a required property"),
        ({"a": "1"}, _object({"a": {"type": "integer"}}), "$.a", "is not of type 'integer'"),
        ({"a": [1, "x"]}, _object({"a": {"items": {"type": "integer"}}}), "$.a[1]", "is not of type"),
        ({"b": 1}, _object({"a": {}}, additionalProperties=False), "$", "not allowed: 'b'; there are a"),
        ({"a": "2026-02-30"}, _object({"a": {"format": "date"}}), "$.a", "is not a 'date'"),
        ({"a": "x"}, _object({"a": {"pattern": "^[0-9]+$"}}), "$.a", "does not match"),
        ({"x1": 1}, {"patternProperties": {"^x": {"type": "string"}}}, "$.x1", "is not of type"),
        ({"a": 1}, _object({"a": {"$ref": "#/$defs/k"}}, **{"$defs": {"k": {"type": "string"}}}), "$.a", "not of type"),
        ({"a": 1}, {"$schema": "http://json-schema.org/draft-07/schema#", **_object({"a": False})}, "$", "False"),
    ],
)
def test_a_fault_names_its_place_and_what_is_wanted(arguments, schema, path, says):
    ((fault,), untested) = schema_faults(arguments, schema)
    assert (fault.path, untested) == (path, "")
    assert says in fault.message


def test_many_faults_are_ten_and_long_values_are_cut_off():
    schema = _object({}, additionalProperties={"type": "integer"})
    faults, _ = schema_faults({f"a{number}": "long " * 500 for number in range(30)}, schema)
    assert len(faults) == 10
    assert all(len(one.message) <= 200 for one in faults)


def test_an_expression_that_would_never_end_ends_and_one_beyond_re2_is_told():
    begun = time.monotonic()
    (fault,), _ = schema_faults({"a": "x" * 5000}, _object({"a": {"pattern": "^(x+)+y$"}}))
    assert time.monotonic() - begun < 2
    assert "does not match" in fault.message
    for schema in (
        _object({"a": {"pattern": "^(?=x)y"}}),
        {"patternProperties": {"(?=x)": False}, "additionalProperties": False},
    ):
        faults, untested = schema_faults({"a": "x"}, schema)
        assert not faults
        assert "patterns that RE2 does not know" in untested


def _doubling(levels: int) -> dict[str, Any]:
    steps = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(levels)}
    return {"$defs": steps | {f"a{levels}": {}}, "$ref": "#/$defs/a0"}


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("arguments", "schema", "says"),
    [
        ({"a": 1}, {"$ref": "#"}, "refers to itself"),
        ({"a": 1}, _doubling(40), "more than 10000 steps"),
        ({"a": 1}, {"$ref": "#/$defs/none"}, "refers to what it does not hold"),
        ({"a": 1}, {"$dynamicRef": "#x"}, "uses $dynamicRef"),
        ({"a": 1}, {"$id": "http://a.example/", "properties": {"a": {"$id": "b"}}}, "uses $id within"),
        ({"a": 1}, {"$schema": "https://a.example/own"}, "dialect is not known"),
        ({"a": 1}, {"$schema": ["x"]}, "dialect is not known"),
        ({"a": 1}, {"type": 7}, "is not a JSON Schema"),
        ({"a": 1}, {"enum": ["x" * 40_000]}, "more than 32768 bytes"),
        ({"a": list(range(2000))}, {}, "more than 1000 values"),
        ({"a": _nested(40)}, {}, "32 levels"),
    ],
)
def test_what_is_beyond_the_bounds_is_not_tested_and_says_why(arguments, schema, says):
    begun = time.monotonic()
    with pytest.raises(Untestable, match=says.replace("$", r"\$")):
        schema_faults(arguments, schema)
    assert time.monotonic() - begun < 5


def test_no_address_in_a_schema_is_ever_read():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        for schema in ({"$ref": address}, _object({"a": {"$ref": f"{address}#/x"}}, **{"$id": address + "/own"})):
            with pytest.raises(Untestable):
                schema_faults({"a": 1}, schema)
        with pytest.raises(TimeoutError):
            server.accept()
