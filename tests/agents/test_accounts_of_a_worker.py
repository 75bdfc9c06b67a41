"""What a checker took in is the sum of what became of it, at every scrape, also of one that is stopped at work."""

import asyncio
import random
from functools import partial
from typing import Any

from agents.checker_agent import CheckerAgent
from agents.routing import Routing, RoutingSettings
from checkers.checker import Decision, Undecidable
from models.protocol import ModelUnavailable
from schemas import Envelope, Verdict
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.waiting import until
from tests.support.workers import WorkerHere, agents_here

RECORDS = 400


class Anything(Accept):
    """Does what a record's id begins with, after a moment."""

    def __init__(self) -> None:
        super().__init__("anything")
        self._away = 20

    async def decide(self, record: Envelope) -> Decision:
        await asyncio.sleep(random.Random(record.id).uniform(0, 0.1))
        match record.id.split("-")[0]:
            case "raise":
                raise ValueError
            case "undecidable":
                raise Undecidable("no_reference", "there is none")
            case "held" if self._away:
                self._away -= 1
                raise ModelUnavailable("away", retry_after=0.05)
        return Decision(accepted=record.id.startswith("accept"), reason="So it is.")

    async def check(self, record: Envelope) -> Verdict:
        verdict = await super().check(record)
        return verdict.model_copy(update={"reason": "x" * 9_000_000}) if record.id.startswith("large") else verdict


def messages() -> list[bytes | None]:
    """All that can come, mixed."""
    rng = random.Random(1)
    found: list[bytes | None] = []
    for number in range(RECORDS):
        does = rng.choice(("accept", "reject", "undecidable", "raise", "held", "large" if number < 20 else "accept"))
        found.append(record(number, id=f"{does}-{number}", source=rng.choice(("tests", "tests", "batch"))))
    kinds = [record(number, kind="extraction", text="x", entities=[]) for number in range(20)]
    return rng.sample([*found, *kinds, *[b"{", None] * 10], RECORDS + 40)


def accounts(worker: WorkerHere) -> dict[str, float]:
    """What the metrics of one scrape say."""
    found = dict.fromkeys(("taken in", "verdicts", "left out", "dead letters", "in flight", "given back"), 0.0)
    for family in worker.registry.collect():
        for sample in family.samples:
            labels = sample.labels
            if "anything" not in (labels.get("checker"), labels.get("agent")):
                continue
            match sample.name:
                case "assay_checker_records_total":
                    found["taken in"] += sample.value
                case "assay_verdicts_total":
                    found["verdicts"] += sample.value
                case "assay_left_out_total" if labels["reason"] != "budget":
                    found["left out"] += sample.value
                case "assay_dead_letters_total" if labels["reason"] in ("checker_failed", "undeliverable"):
                    found["dead letters"] += sample.value
                case "assay_records_in_flight":
                    found["in flight"] += sample.value
                case "assay_records_given_back_total":
                    found["given back"] += sample.value
    return found


async def test_what_is_taken_in_adds_up_at_every_scrape(place: Place):
    raw, settings = await place.ready(drain_seconds=0)
    rules = RoutingSettings.model_validate({"rules": [{"sources": ["batch"], "share": 0.4}]})
    await put(place.servers, settings.topics.outputs, messages(), spread=True)
    looks = []

    def look(worker: WorkerHere) -> dict[str, float]:
        found = accounts(worker)
        taken_in = found.pop("taken in")
        assert taken_in == sum(found.values()), found
        looks.append(found)
        return found

    def agents() -> list[Any]:
        return [partial(CheckerAgent, Anything(), routing=Routing(rules), checked_kinds={"generation", "extraction"})]

    async with agents_here(agents(), raw) as worker:
        await until(lambda: look(worker)["verdicts"] >= 50)
        await worker.stop()
        stopped = look(worker)
    assert stopped["given back"] > 0
    assert stopped["in flight"] == 0
    async with agents_here(agents(), raw) as worker:
        lag = "assay_consumer_lag_records", {"agent": "anything"}
        await until(lambda: look(worker)["verdicts"] > 0 and worker.registry.get_sample_value(*lag) == 0)
    last = looks[-1]
    assert all(last[name] > 0 for name in ("verdicts", "left out", "dead letters"))
    assert any(each["in flight"] > 0 for each in looks)
