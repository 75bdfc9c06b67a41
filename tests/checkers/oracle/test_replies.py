"""What is read from a model's reply."""

import json

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from checkers.oracle.replies import salvaging


class Found(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    reason: str
    holds: bool


class Findings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: tuple[Found, ...]


FINDINGS = st.builds(
    Findings,
    entries=st.lists(st.builds(Found, number=st.integers(), reason=st.text(), holds=st.booleans())).map(tuple),
)


@given(FINDINGS, st.data())
def test_what_is_salvaged_are_the_first_entries_as_they_were(findings: Findings, data: st.DataObject) -> None:
    text = findings.model_dump_json(indent=data.draw(st.sampled_from([None, 2])))
    cut = data.draw(st.integers(0, len(text)))

    salvaged = salvaging(Findings, "entries")(text[:cut])

    taken = salvaged.entries if salvaged else ()
    assert taken == findings.entries[: len(taken)]
    # No more than the one that was cut is lost.
    ends = [text.find(one.model_dump_json()) + len(one.model_dump_json()) for one in findings.entries]
    if "\n" not in text and len(set(findings.entries)) == len(findings.entries):
        assert len(taken) == sum(end <= cut for end in ends)


def test_a_text_in_an_entry_that_looks_like_the_list_is_not_it() -> None:
    entry = {"number": 1, "reason": '"entries": [{"number": 7, "reason": "", "holds": true}]', "holds": True}
    text = json.dumps({"entries": [entry, entry]})

    salvaged = salvaging(Findings, "entries")(text[:-10])

    assert salvaged is not None
    assert [one.model_dump() for one in salvaged.entries] == [entry]


def test_nothing_is_salvaged_from_entries_of_another_form() -> None:
    assert salvaging(Findings, "entries")('{"entries": [{"number": "1", "reason": "", "holds": true}, {"num') is None
    assert (
        salvaging(Findings, "entries")('{"entries": [{"number": 1, "number": 2, "reason": "", "holds": true}') is None
    )
    assert salvaging(Findings, "entries")('{"entries": [[1], [2]') is None
    assert salvaging(Findings, "entries")('{"entries": [{"number": ' + "[" * 100_000) is None
