"""The labels' agent on a broker: nothing is lost or counted twice, whatever is killed."""

import asyncio
import random
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from typing import Any

from agents.monitor.label_series import LabelKey, calibration_of
from agents.monitor.labels import LabelEntry, labels_agent
from agents.monitor.settings import LabelSettings
from schemas import Calibration, Label, ReviewRequest
from streams.messages import Publisher, label_message
from streams.settings import StreamSettings
from tests.support.scenarios import Place
from tests.support.trust_verdicts import put_verdicts, read_all, verdict
from tests.support.waiting import until
from tests.support.workers import WorkerProcess, agents_here

SUBJECTS = ("m0", "m1", "m2")
EACH = 900
SETTINGS = {"per_hour": 120}


def sent(seed: int = 1) -> list[Any]:
    """Verdicts of an ordinary judge on three subjects, of one second each."""
    rng = random.Random(seed)
    begun = datetime.now(UTC) - timedelta(hours=2)
    found = []
    for number, model in product(range(EACH), SUBJECTS):
        accepted = rng.random() < (0.92 if good(f"r{number}") else 0.3)
        found.append(verdict(number, accepted, model=model, checked_at=begun + timedelta(seconds=number)))
    return found


def good(record_id: str) -> bool:
    return random.Random(record_id).random() < 0.9


async def requests(place: Place, settings: StreamSettings) -> dict[str, ReviewRequest]:
    """By verdict."""
    messages = await read_all(place.servers, settings.topics.review_requests)
    return {each.verdict_id: each for each in (ReviewRequest.model_validate_json(one.value) for one in messages)}


async def calibrations(place: Place, settings: StreamSettings) -> dict[str, Calibration]:
    """What is known, by model: it is published a minute late where labels are the same."""
    latest = {each.key: each.value for each in await read_all(place.servers, settings.topics.label_state)}
    stored = [LabelEntry.model_validate_json(each) for each in latest.values()]
    return {each.key[1]: calibration_of(LabelKey(*each.key), each.series, datetime.now(UTC)) for each in stored}


async def answer(place: Place, settings: StreamSettings, asked: list[ReviewRequest]) -> None:
    """What people say, in any order, some of it twice, and something about verdicts that nobody asked about."""
    subject = {"source", "model", "verdict_id"}
    labels = [
        Label(**each.model_dump(include=subject), annotator="ada", label="good" if good(each.record_id) else "bad")
        for each in asked
    ]
    rng = random.Random(3)
    doubled = rng.sample([*labels, *labels[::3]], len(labels) + len(labels[::3]))
    doubled += [labels[0].model_copy(update={"verdict_id": f"ver-{number}"}) for number in range(5)]
    async with Publisher(settings).running() as publisher:
        await publisher.publish(*(label_message(each, settings.topics) for each in doubled))


def running(raw: dict[str, Any]) -> Any:
    return agents_here([partial(labels_agent, LabelSettings.model_validate(SETTINGS), flush_seconds=0.1)], raw)


def kill_often(place: Place, raw: dict[str, Any], kills: int) -> None:
    for number in range(kills):
        spec = [{"type": "labels", "flush_seconds": 0.05} | SETTINGS]
        with WorkerProcess(spec, raw, place.folder / f"labels-{number}.log") as worker:
            worker.wait_ready()
            time.sleep(random.Random(number).uniform(0, 0.3))
            worker.kill()


class TestOnApacheKafka:
    async def test_kill_9_leaves_counts_and_sums_as_the_topics_have_them(self, place: Place):
        raw, settings = await place.ready(partitions=2, instance_id="only")
        verdicts = sent()
        await put_verdicts(place.servers, settings.topics, verdicts[: len(verdicts) // 2])
        await asyncio.to_thread(kill_often, place, raw, 2)

        async def asked_of_all() -> dict[str, ReviewRequest] | None:
            told = await calibrations(place, settings)
            done = sum(each.verdicts for each in told.values()) == len(verdicts) // 2
            return await requests(place, settings) if done else None

        async with running(raw):
            asked = await until(asked_of_all)
        await answer(place, settings, list(asked.values()))
        await asyncio.to_thread(kill_often, place, raw, 2)
        await put_verdicts(place.servers, settings.topics, verdicts[len(verdicts) // 2 :])

        async def all_counted() -> dict[str, Calibration] | None:
            told = await calibrations(place, settings)
            counted = sum(each.verdicts for each in told.values()), sum(each.labels for each in told.values())
            return told if counted == (len(verdicts), len(asked)) else None

        async with running(raw) as worker:
            told = await until(all_counted)
            assert worker.metric("assay_true_success_lower_ratio", checker="fair", source="shop", model="m0") > 0
        messages = await read_all(place.servers, settings.topics.calibration)
        published = [Calibration.model_validate_json(each.value) for each in messages]
        assert {each.model: each.labels for each in published} == {each.model: each.labels for each in told.values()}
        drawn = await requests(place, settings)
        for model in SUBJECTS:
            one = told[model]
            for each in one.strata:
                of = [every for every in drawn.values() if (every.model, every.outcome) == (model, each.stratum)]
                there = [every for every in verdicts if (every.model, every.outcome) == (model, each.stratum)]
                assert (each.asked, each.verdicts) == (len(of), len(there))
                assert each.labels == sum(every.verdict_id in asked for every in of)
            assert one.rate is not None
            assert one.rate.low < sum(good(f"r{number}") for number in range(EACH)) / EACH < one.rate.high
