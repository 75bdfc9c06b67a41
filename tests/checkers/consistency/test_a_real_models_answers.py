"""The consistency checker over a real model's answers, served as its endpoint gave them: its form and its mistakes.

    python -m tests.checkers.consistency.test_a_real_models_answers --base-url URL

asks the model again and writes test_a_real_models_answers.jsonl, which is needed after a change of a judge's prompts.
The file is of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) behind llama.cpp.
"""

import argparse
import asyncio
import hashlib
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas import ConsistencyEvidence, Generation, Verdict
from tests.support.checkers import asking
from tests.support.recorded_model import MODEL
from tests.support.stub_acts import Act, error
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

RECORDING = Path(__file__).with_suffix(".jsonl")

_DESK = (
    "Lost property at Marren junction is kept for 40 days. Handing out costs 4 euros, for bicycles 12 euros. The desk "
    "is open from Tuesday to Saturday, 10 am to 6 pm. Keys are never sent by post."
)
_RECORDS = {
    "right": ("How long do you keep things?", "We keep lost property for 40 days."),
    "one word": ("Is the desk open on Mondays?", "No."),
    "wrong figure": ("What does it cost to get my bicycle back?", "Getting a bicycle back costs 4 euros."),
    "wrong day": ("When is the desk open?", "The desk is open from Monday to Friday."),
    "denied": ("Can you send me my keys?", "Yes, keys are sent by post."),
    "one of two": ("How long, and how much?", "We keep things for 40 days. Handing out is free."),
    "refusal": ("Who found my umbrella?", "The rules do not say who found it."),
}
FORMS = {"short": tuple(_RECORDS), "list": ("right", "one of two")}
"""The records that are asked about in each form: log-probabilities of a list take much room."""


async def verdicts(base_url: str, form: str, **judge: Any) -> dict[str, Verdict]:
    """The consistency checker's verdict on each record, by its name; the judge is behind `base_url`."""
    checker = asking("consistency", base_url, concurrency=1, form=form, **judge)
    fixed: Any = {"kind": "generation", "source": "desk", "model": "m", "reference": _DESK}
    records = {name: Generation(prompt=_RECORDS[name][0], response=_RECORDS[name][1], **fixed) for name in FORMS[form]}
    try:
        return {name: await checker.check(record) for name, record in records.items()}
    finally:
        await checker.close()


def recorded(request: StubRequest) -> Act:
    """What the model answered, word for word; an error that names the command where it was not asked."""
    body = _responses().get(_key(request.body))
    return error(400, {"message": f"not recorded: {__doc__}"}) if body is None else Act(document=body)


@cache
def _responses() -> dict[str, bytes]:
    lines = map(orjson.loads, RECORDING.read_bytes().splitlines())
    return {line["key"]: orjson.dumps(line["response"]) for line in lines}


def _key(body: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()


OUTCOMES = {
    "short": {
        "right": "accept",
        "one word": "accept",
        "wrong figure": "accept",
        "wrong day": "reject",
        "denied": "reject",
        "one of two": "accept",
        "refusal": "accept",
    },
    "list": {"right": "accept", "one of two": "reject"},
}
"""The model's own: it is small, and in the short form wrong about a figure and about the second of two sentences."""


@pytest.mark.parametrize("form", OUTCOMES)
async def test_verdicts_are_those_that_the_model_gave(form: str):
    with StubEndpoint() as stub:
        stub.play(recorded)
        found = await verdicts(stub.base_url, form)
        assert {name: verdict.outcome for name, verdict in found.items()} == OUTCOMES[form]
        assert sum(verdict.usage.calls for verdict in found.values()) == len(stub.requests)
    supports = [
        sentence.support
        for verdict in found.values()
        if isinstance(verdict.evidence, ConsistencyEvidence)
        for sentence in verdict.evidence.sentences
    ]
    # Words alone, without their probabilities, would make each 0 or 1.
    assert all(0.001 < support < 0.999 for support in supports)
    assert all(verdict.usage.cached_tokens for verdict in found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True)
    base_url = parser.parse_args().base_url
    with tempfile.TemporaryDirectory() as folder:
        exchanges = Path(folder) / "exchanges.jsonl"
        for form in FORMS:
            asked = verdicts(base_url, form, model=MODEL, recording=exchanges, timeout_seconds=2880)
            for name, verdict in asyncio.run(asked).items():
                print(f"{form:<6} {name:<14} {verdict.outcome:<8} {verdict.reason}", flush=True)
        lines = [line for line in map(orjson.loads, exchanges.read_bytes().splitlines()) if line["type"] == "exchange"]
    kept = {_key(line["request"]): {**orjson.loads(line["response"]), "model": MODEL} for line in lines}
    RECORDING.write_bytes(b"\n".join(orjson.dumps({"key": key, "response": kept[key]}) for key in kept) + b"\n")


if __name__ == "__main__":
    main()
