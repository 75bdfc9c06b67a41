"""Arguments and schemas, which nobody's schema makes more of."""

import socket
import time
from typing import Any

import pytest

from checkers.tool_call import structure
from tests.checkers.tool_call.setting import call


def _faults(arguments: dict[str, Any], schema: dict[str, Any]) -> tuple[tuple[str, ...], str | None]:
    evidence, _ = structure.tested(call(arguments=arguments, tools=[{"name": "book_boat", "parameters": schema}]))
    assert evidence.fault == ("schema" if evidence.faults else None)
    return evidence.faults, evidence.schema_untested


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


@pytest.mark.parametrize(
    ("arguments", "schema", "says"),
    [
        ({}, _object({"a": {}}, required=["a"]), "$ (required): 'a' is a required property"),
        ({"a": [1]}, _object({"a": {"items": {"anyOf": [{"type": "null"}, {"minimum": 2}]}}}), "$.a[0] (anyOf)"),
        ({"a": "1"}, _object({"a": {"type": "integer"}}), "$.a (type): '1' is not of type 'integer'"),
        ({"a": "2026-02-30"}, _object({"a": {"format": "date"}}), "$.a (format): '2026-02-30' is not a 'date'"),
        ({"a": 1}, _object({"a": {"$ref": "#/$defs/k"}}, **{"$defs": {"k": {"type": "string"}}}), "$.a (type)"),
        ({"a": 1}, {"$schema": "http://json-schema.org/draft-07/schema#", **_object({"a": False})}, "False"),
    ],
)
def test_a_fault_names_its_place_and_what_is_wanted(arguments, schema, says):
    ((fault,), untested) = _faults(arguments, schema)
    assert untested is None
    assert says in fault


def test_many_faults_are_ten_and_long_values_are_cut_off():
    schema = _object({}, additionalProperties={"type": "integer"})
    faults, _ = _faults({f"a{number}": "long " * 500 for number in range(30)}, schema)
    assert len(faults) == 10
    assert all(len(one) <= 300 for one in faults)


def test_an_expression_that_would_never_end_ends():
    begun = time.monotonic()
    (fault,), _ = _faults({"a": "x" * 5000}, _object({"a": {"pattern": "^(x+)+y$"}}))
    assert "(pattern)" in fault
    # The library gives a schema within that names its dialect to a validator without bounds.
    within = {"$schema": "https://json-schema.org/draft/2020-12/schema", "pattern": "^(x+)+y$"}
    assert _faults({"a": "x" * 40}, _object({"a": within})) == (
        (),
        "not all of the schema was followed: it uses $schema",
    )
    assert time.monotonic() - begun < 5


def _doubling(levels: int) -> dict[str, Any]:
    steps = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(levels)}
    return {"$defs": steps | {f"a{levels}": {}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    ("arguments", "schema", "says"),
    [
        ({"a": 1}, {"$ref": "#"}, "recursion"),
        ({"a": 1}, _doubling(40), "too much work"),
        ({"a": list(range(50_000))}, _object({"a": {"items": {"minimum": 0}}}), "too much work"),
        ({"a": 1}, {"$ref": "#/$defs/none"}, "#/$defs/none"),
        ({"a": 1}, _object({"a": {"$id": "b"}}), "uses $id"),
        ({"a": "x"}, _object({"a": {"pattern": "^(?=x)y"}}), "invalid perl operator"),
        ({"a": 1}, {"default": [5], **_object({"a": {"$ref": "#/default/0"}})}, "not all of the schema"),
    ],
)
def test_what_is_beyond_the_bounds_is_not_tested_and_says_why(arguments, schema, says):
    begun = time.monotonic()
    faults, untested = _faults(arguments, schema)
    assert faults == ()
    assert says in (untested or "")
    assert time.monotonic() - begun < 10


def test_what_was_found_before_a_bound_counts():
    faults, untested = _faults({}, {"required": ["a"], "allOf": [_doubling(40)]} | _doubling(40))
    assert ("'a' is a required property" in faults[0], "too much work" in (untested or "")) == (True, True)


def test_no_address_in_a_schema_is_ever_read():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        for schema in ({"$ref": address}, _object({"a": {"$ref": f"{address}#/x"}})):
            faults, untested = _faults({"a": 1}, schema)
            assert (faults, f"Unresolvable: {address}" in (untested or "")) == ((), True)
        with pytest.raises(TimeoutError):
            server.accept()
