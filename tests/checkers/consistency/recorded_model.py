"""A real model's answers to a checker's questions about a few records, served as its endpoint gave them.

    python -m tests.checkers.consistency.recorded_model --base-url URL --model NAME

asks the model anew and writes recorded_model.jsonl, which is needed after a change of a judge's prompts. The file is of
Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) behind llama.cpp.
"""

import argparse
import asyncio
import hashlib
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from schemas import Generation, Verdict
from tests.support.checkers import asking
from tests.support.stub_acts import Act, error
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        exchanges = Path(folder) / "exchanges.jsonl"
        patience = {"timeout_seconds": 2880}
        for form in FORMS:
            asked = verdicts(options.base_url, form, model=options.model, recording=exchanges, **patience)
            for name, verdict in asyncio.run(asked).items():
                print(f"{form:<6} {name:<14} {verdict.outcome:<8} {verdict.reason}", flush=True)
        lines = [line for line in map(orjson.loads, exchanges.read_bytes().splitlines()) if line["type"] == "exchange"]
    kept = {_key(line["request"]): {**orjson.loads(line["response"]), "model": options.model} for line in lines}
    RECORDING.write_bytes(b"\n".join(orjson.dumps({"key": key, "response": kept[key]}) for key in kept) + b"\n")


if __name__ == "__main__":
    main()
