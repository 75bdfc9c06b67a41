"""Recorded traffic whose model is exchanged half way, watched by a real Prometheus and a real Alertmanager.

Five applications share one worker with the local judge,
through Apache Kafka. One keeps its good model, and sees its documents twice; each of the others changes to a weaker
model without a word. Nothing about them is configured: baselines are learned. Prints, for each, the success rate before
and after, and what reached a webhook through Alertmanager. A figure is wrong if the steady one had
an alert, or one of those that change to a clearly weaker model had none with its rejected records.

It takes the programs of Debian's packages prometheus and prometheus-alertmanager (`make test-system` installs them).
"""

import asyncio
import contextlib
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli.common import CannotRun
from benchmarks.datasets import DataMissing, Example, traffic
from benchmarks.tables import table
from schemas import Verdict
from streams.settings import KafkaSettings, StreamSettings, TopicSettings
from streams.topics import create_topics
from tests.support.kafka import ADDRESS_VARIABLE, running_kafka
from tests.support.service import running_service
from tests.support.traffic import messages_until, put, record
from tests.system.monitoring import Inbox, receiving_alerts, running_alertmanager, running_prometheus

GOOD = "openai/GPT-4o-mini"

WEAK = {
    "tiiuae/falcon-7b-instruct": True,
    "apple/OpenELM-3B-Instruct": True,
    "Qwen/Qwen2.5-0.5B-Instruct": True,
    "microsoft/Phi-2": False,
}
"""By model, whether it is so much weaker that an alert must come: recorded detectors find Phi-2's summaries consistent
in all but some per cent, as those of the good model."""

ACCEPT_FROM = 0.4
"""Mean support of its sentences from which a summary is accepted: the judge's own lower threshold, so that only what it
rejects by itself is rejected. An alert needs room above what it is to find."""

MODEL = "summariser"
"""The name that the applications give their model, whichever it is: they do not know of the exchange."""

_SHOWN = 200

_DONE_SECONDS = 1500.0
"""All of them are judged within that time, unless something is wrong."""

_TOLD_SECONDS = 15.0
"""Counted, published, posted, grouped and told takes some 3 s."""


@dataclass(frozen=True, slots=True)
class Application:
    """A source of records, and the models that answered, in order."""

    source: str
    first: Sequence[Example]
    second: Sequence[Example]
    must_alert: bool | None
    """None: must not."""

    def records(self) -> list[bytes]:
        """Its outputs in order."""
        return [
            record(
                number,
                id=f"{self.source}-{number}",
                source=self.source,
                model=MODEL,
                task=example.task,
                reference=example.reference,
                response=example.response,
            )
            for number, example in enumerate((*self.first, *self.second))
        ]


def applications(examples: Sequence[Example]) -> list[Application]:
    """One that stays with its model, and one for each weaker one."""
    of = {name: [example for example in examples if example.group == name] for name in (GOOD, *WEAK)}
    for name, own in of.items():
        if not own:
            raise DataMissing(f"llm_summary_traffic has no response of {name}")
    steady = Application("steady", of[GOOD], of[GOOD], None)
    return [steady, *(Application(f"to-{name.rpartition('/')[2]}", of[GOOD], of[name], WEAK[name]) for name in WEAK)]


async def send(servers: str, watched: Sequence[Application], topics: TopicSettings) -> int:
    """Put all records on the topic, the applications by turns; how many."""
    await create_topics(StreamSettings(kafka=KafkaSettings(bootstrap_servers=servers), topics=topics))
    turns = itertools.zip_longest(*(application.records() for application in watched))
    return await put(servers, topics.outputs, [line for turn in turns for line in turn if line is not None])


async def _outcomes(servers: str, topics: TopicSettings, count: int) -> dict[str, str]:
    """The outcomes of so many records, by record; all are on their topics."""
    found: dict[str, str] = {}
    async for message in messages_until(
        servers, (topics.accepted, topics.rejected, topics.abstained), lambda: len(found) >= count
    ):
        verdict = Verdict.model_validate_json(message.value)
        found[verdict.record_id] = verdict.outcome
    return found


def report(watched: Sequence[Application], inbox: Inbox, outcomes: dict[str, str]) -> tuple[str, bool]:
    """The table, and whether everything came as it must."""
    rows = []
    said = []
    well = True
    for application in watched:
        told = inbox.of("AssayTrustDrop", source=application.source)
        rejected = told[0].annotations["rejected"].splitlines() if told else []
        if application.must_alert is None:
            well &= not told
        elif application.must_alert:
            well &= bool(rejected) and all(application.source in line for line in rejected)
        rows.append(
            [application.source, *(_success(application, outcomes)), "yes" if told else "no", len(rejected) or None]
        )
        if told:
            said.append(f"\n{application.source}: {told[0].annotations['description']}\n  {rejected[0][:_SHOWN]}")
    header = ["application", "success before", "after", "alert at the webhook", "rejected records in it"]
    return "\n".join([table(header, rows), *said]), well


def _success(application: Application, outcomes: dict[str, str]) -> tuple[float, float]:
    found = [outcomes.get(f"{application.source}-{number}") for number in range(len(application.records()))]
    halves = found[: len(application.first)], found[len(application.first) :]
    before, after = (sum(one == "accept" for one in half) / len(half) for half in halves)
    return before, after


def run(data: Path) -> bool:
    """Run and print; False if an alert is missing or false."""
    watched = applications(traffic(data))
    if missing := [each for each in ("prometheus", "prometheus-alertmanager") if shutil.which(each) is None]:
        raise CannotRun(f"no program {' and '.join(missing)}; `make test-system` installs them")
    address = os.environ.get(ADDRESS_VARIABLE)
    topics = TopicSettings(prefix=f"drift-{os.getpid()}")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = address or stack.enter_context(running_kafka(fast=True)).bootstrap_servers
        inbox = stack.enter_context(receiving_alerts())
        alertmanager = stack.enter_context(running_alertmanager(folder, inbox.url))
        records = asyncio.run(send(servers, watched, topics))
        service = stack.enter_context(
            running_service(
                servers,
                topics.prefix,
                ASSAY_ALERTMANAGER__URLS=f'["{alertmanager.url}"]',
                ASSAY_CONSISTENCY__THRESHOLDS__ACCEPT_FROM=str(ACCEPT_FROM),
                ASSAY_CONSISTENCY__THRESHOLDS__REJECT_BELOW=str(ACCEPT_FROM),
            )
        )
        prometheus = stack.enter_context(
            running_prometheus(folder, [f"127.0.0.1:{service.port}"], alertmanager, patient=True)
        )
        service.wait_for("assay_verdicts_total", records, seconds=_DONE_SECONDS)
        time.sleep(_TOLD_SECONDS)
        outcomes = asyncio.run(_outcomes(servers, topics, records))
        text, well = report(watched, inbox, outcomes)
        print(text)
        dropped = prometheus.query("assay_trust_dropped == 1")
        print(f"\nPrometheus has assay_trust_dropped = 1 for {', '.join(sorted(at['source'] for at, _ in dropped))}.")
        others = sorted({alert.labels["alertname"] for alert in inbox.alerts} - {"AssayTrustDrop"})
        print(f"Other alerts that arrived: {', '.join(others) or 'none'}.")
    return well
