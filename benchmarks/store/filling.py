"""A store filled with made-up verdicts of the consistency checker, straight through the archivist's writer."""

import itertools
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson

from schemas import Alert, ConsistencyEvidence, SentenceFinding, Usage, Verdict, to_json
from store.opening import open_store
from store.redaction import Redaction
from store.retention import prune
from store.settings import StoreSettings
from store.writing import StoreWriter, TableEntry, behind
from tests.support.page import ALERT

DAYS = 30
"""The time that the verdicts are spread over, up to now."""

SOURCES = tuple(f"app-{number}" for number in range(6))
MODELS = tuple(f"model-{number}" for number in range(3))
CHECKERS = ("consistency", "retrieval", "extraction")

_WORDS = 20_000
_TEMPLATES = 500
_BATCH = 1000
_ALERTS = 500
_DOCUMENTS = 200
_HERE = ("made-up", 0)


@dataclass
class Cost:
    """The cost of all verdicts together."""

    reading: float = 0.0
    """Processor seconds of validating messages."""
    writing: float = 0.0
    """Processor seconds of writing, the database's own aside where it is a server."""
    message_bytes: int = 0


def made_up(number: int, *, seed: int = 7) -> Iterator[tuple[Verdict, bytes]]:
    """Verdicts in the order of their time, and as they are on a topic; one in ten rejects."""
    rng = random.Random(seed)
    vocabulary = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{each}" for each in range(_WORDS)]
    templates = [_template(rng, vocabulary) for _ in range(_TEMPLATES)]
    dumped = [template.model_dump() for template in templates]
    begin, step = datetime.now(UTC) - timedelta(days=DAYS), timedelta(days=DAYS) / number
    for each in range(number):
        rejects = rng.random() < 0.1
        said = {
            "id": f"ver-{rng.getrandbits(128):032x}",
            "record_id": f"rec-{each}",
            "source": rng.choice(SOURCES),
            "model": rng.choice(MODELS),
            "checker": rng.choice(CHECKERS),
            "outcome": "reject" if rejects else "accept",
            "score": round(rng.random(), 3),
            "reason": _text(rng, vocabulary, 14),
            "checked_at": begin + each * step,
        }
        template = templates[each % _TEMPLATES]
        # Dumping a model each time would take most of the time.
        data = orjson.dumps(dumped[each % _TEMPLATES] | said, option=orjson.OPT_UTC_Z)
        yield template.model_copy(update=said), data


def fill(url: str, number: int, *, read: bool = False) -> Cost:
    """Fill a store; `read` also validates each message as the archivist does."""
    engine = open_store(url)
    writer = StoreWriter(engine, Redaction(()), cluster="benchmark")
    progress = writer.progress([_HERE])
    cost = Cost()
    entries: list[TableEntry] = []
    for offset, (verdict, data) in enumerate(made_up(number)):
        entries.append(TableEntry(_HERE, offset, data, verdict))
        if len(entries) == _BATCH or offset == number - 1:
            cost.message_bytes += sum(len(entry.data) for entry in entries)
            if read:
                before = time.process_time()
                entries = [entry._replace(message=Verdict.model_validate_json(entry.data)) for entry in entries]
                cost.reading += time.process_time() - before
            before = time.process_time()
            writer.write(entries, progress)
            cost.writing += time.process_time() - before
            progress, entries = behind(entries), []
    alerts = [TableEntry(_HERE, number + each, to_json(one), one) for each, one in enumerate(_alerts())]
    writer.write(alerts, progress)
    prune(engine, StoreSettings())
    engine.dispose()
    return cost


def _alerts() -> list[Alert]:
    """Drops and recoveries of each model of each application, taking turns."""
    now, series = datetime.now(UTC), list(itertools.product(SOURCES, MODELS))
    found = []
    for number in range(_ALERTS):
        source, model = series[number % len(series)]
        kind = "trust_recovery" if number // len(series) % 2 else "trust_drop"
        at = now - timedelta(days=DAYS) * (1 - number / _ALERTS)
        of = {"id": f"alert-{number}", "kind": kind, "source": source, "model": model, "raised_at": at}
        found.append(ALERT.model_copy(update=of))
    return found


def _template(rng: random.Random, vocabulary: list[str]) -> Verdict:
    sentences = tuple(
        SentenceFinding(
            text=_text(rng, vocabulary, 12),
            start=place * 80,
            end=place * 80 + 79,
            reason=_text(rng, vocabulary, 14),
            mark=1,
            support=0.9,
            passage=_text(rng, vocabulary, 12),
        )
        for place in range(3)
    )
    about = {"task": "answer", "against": "contexts", "consistent_share": 1.0}
    evidence = ConsistencyEvidence.model_validate(about | {"sentences": sentences})
    return Verdict(
        id="none",
        record_id="none",
        checker="consistency",
        checker_version="1",
        config_digest="d",
        outcome="accept",
        score=1.0,
        reason="",
        evidence=evidence,
        usage=Usage(calls=2, prompt_tokens=500, completion_tokens=100, seconds=0.4),
        source="none",
        model="none",
        judge="judge-large",
        tenant=f"tenant-{rng.randrange(20)}",
        attributes={
            "document": tuple(f"document-{rng.randrange(_DOCUMENTS)}.pdf" for _ in range(3)),
            "metadata.release": (rng.choice(("4.1", "4.2")),),
            "metadata.region": (rng.choice(("eu", "us", "apac")),),
        },
    )


def _text(rng: random.Random, vocabulary: list[str], words: int) -> str:
    return " ".join(rng.choices(vocabulary, k=words))
