"""Messages about a wrong configuration: the key as the user wrote it, its value, and what is allowed."""

from collections.abc import Collection, Iterator, Mapping
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from assay.origins import DEFAULT, Origins
from assay.secrets import masked
from schemas import nearest

Place = tuple[str, ...]

_SHOWN = 80
_LIST_TYPES = {"list_type", "tuple_type", "set_type", "frozen_set_type"}
_LIST_IN_A_VARIABLE = 'should be a list: a,b or, as JSON, ["a", "b"]'

_ENDPOINTS = ("improver.writer", "judge", "subjects.NAME")
_OF_ENDPOINTS = {
    "breaker": "it is gone, as 10 failures in a row and pauses of 1 to 30 seconds suit every endpoint; leave it out",
    "cache": "it is gone, as 4,096 answers are kept, for an hour each; leave it out",
    "max_attempts": "it is gone, as deadline_seconds bounds the attempts, of which there are four; leave it out",
    "reasoning_effort": "it is gone; set extra_body.reasoning_effort",
    "requests_per_second": "it is gone, as fewer requests are made where the endpoint answers 429; set concurrency",
    "seed": "it is gone; set extra_body.seed",
}

GONE: Mapping[str, str] = {
    **{f"{section}.{key}": words for section in _ENDPOINTS for key, words in _OF_ENDPOINTS.items()},
    "alertmanager.labels": "it is gone; leave it out: Alertmanager's routes can go by source, model and checker",
    "alertmanager.resend_seconds": "it is gone, as alerts that go on are posted again every minute; leave it out",
    "alertmanager.timeout_seconds": "it is gone, as a request has ten seconds, and is made again; leave it out",
    "consistency.granularity": "it is gone, as responses are judged sentence by sentence alone; leave it out",
    "consistency.max_samples": "it is gone, as the first 20 samples are taken; leave it out",
    "consistency.max_sentences": "it is gone, as responses of up to 400 sentences are judged; leave it out",
    "consistency.sentences_per_call": "it is gone, as a call asks about seven at most; leave it out",
    "delivery.attempts": "it is gone, as a record is tried three times; leave it out",
    "delivery.check_timeout_seconds": "it is gone, as each checker has its `deadline_seconds`; leave it out",
    "delivery.commit_interval_seconds": "it is gone, as offsets are committed twice a second; leave it out",
    "delivery.linger_seconds": "it is gone, as verdicts wait five milliseconds for one another; leave it out",
    "delivery.rebalance_timeout_seconds": "it is gone, as it follows from `delivery.drain_seconds`; leave it out",
    "delivery.window": "it is gone, as it is 4,096 records; leave it out",
    "equivalence.at_once": "it is gone, as two pairs are asked about one by one and then the rest; leave it out",
    "equivalence.corenlp_connections": "it is gone; leave it out",
    "equivalence.corenlp_timeout_seconds": "it is gone, as a sentence has 20 s; leave it out",
    "equivalence.matching": "it is gone, as a phrase is matched with the most similar one alone; leave it out",
    "equivalence.max_characters": "it is gone, as sentences of up to 2,000 characters are compared; leave it out",
    "equivalence.model": "it is gone, as the bundled model compares phrases; leave it out",
    "equivalence.parser": "it is gone: set equivalence.corenlp_url for CoreNLP's trees, or leave both out",
    "equivalence.seed": "it is gone, as draws go by the record's source and id; leave it out",
    "extraction.epsilon": "it is gone, as the bound of an acceptance is always about 0.1; leave it out",
    "extraction.max_characters": "it is gone, as texts of up to 5,000 characters are tested; leave it out",
    "extraction.max_entities": "it is gone, as a record may have 50 entities; leave it out",
    "extraction.original": "it is gone, as extraction.schedule = 'full' always gives con_o; leave it out",
    "extraction.seed": "it is gone, as draws go by the record's source and id; leave it out",
    "improver.deadline_seconds": "it is gone, as an improvement has two minutes; leave it out",
    "improver.max_characters": "it is gone, as responses of up to 30,000 characters are rewritten; leave it out",
    "improver.rounds": "it is gone, as there are two rounds; leave it out",
    "judge.local.batch_pieces": "it is gone, as a forward pass has 4,096 word pieces, 32,768 on a GPU; leave it out",
    "judge.local.cached_references": "it is gone, as the last 256 references are kept; leave it out",
    "judge.local.max_words": "it is gone, as 50,000 words of a reference and 500 of a sentence are read; leave it out",
    "judge.local.precision": "it is gone, as judges by name run in full precision alone; leave it out",
    "judge.local.spans": "it is gone, as it changed no score; leave it out",
    "judge.local.threads": "it is gone, as a forward pass has two; leave it out, and use assay worker --processes",
    "kafka.client_id": "it is gone, as clients are called 'assay'; leave it out: a broker's quota can go by the user",
    "labelling.contradiction": "it is gone; leave it out: evidence.succeeded says what the challenges alone decide",
    "labelling.distance": "it is gone with labelling.epsilon; leave it out",
    "labelling.epsilon": "it is gone, as no bound on lies held with it; leave it out: encodings must be equal",
    "labelling.max_characters": "it is gone, as datapoints of up to 20,000 characters are tested; leave it out",
    "longtail.link": "it is gone; `assay probes build --help` has what it set, and all else is asked of the judge",
    "longtail.probes.prompts": "it is gone, as all subjects are asked alike; leave it out",
    "longtail.probes.seed": "it is gone, as all workers draw the same order; leave it out",
    "longtail.probes.source": "it is gone, as records of the scheduler have the source probe-scheduler; leave it out",
    "metrics": "it is gone, as the first 500 pairs of source and model have labels of their own; leave it out",
    "otlp.attribute_length_limit": "it is gone; leave it out, and OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT in applications",
    "records.dead_letter_keep_bytes": "it is gone, as a dead letter keeps 700,000 bytes of its message; leave it out",
    "retrieval.cross_encoder": "it is gone; judge.local.judge = 'nli:NAME' is a cross-encoder as the judge of all "
    "checkers, where judge.backend is 'local'",
    "retrieval.max_candidates": "it is gone, as the ten closest candidates are compared; leave it out",
    "retrieval.max_characters": "it is gone, as up to 20,000 characters are compared; leave it out",
    "topics.retention_days.alerts": "it is gone, as alerts are kept as long as verdicts; leave it out",
    "topics.retention_days.labels": "it is gone, as people's labels are kept for ever; leave it out",
    "trust.baselines.NAME.cycle": "it is gone, as cycles of the day and the week are found in the first "
    "weeks; leave it out, and give one rate, the average, or none",
    "trust.baselines.NAME.edition": "it is gone; leave it out: a series begins anew if its entry changes",
    "trust.enabled": "it is gone; leave it out: a worker runs the agents that --agents names",
    "trust.flush_seconds": "it is gone, as the state is written every five seconds; leave it out",
    "trust.forget_after_days": "it is gone, as a series ends after 30 days without a verdict; leave it out",
    "trust.learn_at_least": "it is gone, as a learned baseline is used from 50 verdicts on; leave it out",
    "trust.max_series": "it is gone, as 10,000 series are watched; leave it out",
    "trust.rejected_in_alert": "it is gone, as an alert names ten rejected records; leave it out",
    "trust.remember": "it is gone, as 16,384 verdicts a partition are remembered; leave it out",
    "ui.token_file": "it is gone; set ui.token or ASSAY_UI__TOKEN",
    "webhooks.NAME.concurrency": "it is gone, as eight requests are made at the same time; leave it out",
    "webhooks.NAME.give_up_seconds": "it is gone, as a message is given up after 900 s; leave it out",
    "webhooks.NAME.timeout_seconds": "it is gone, as a request has ten seconds, and is made again; leave it out",
}
"""Keys of earlier versions, with what to do in their place."""


def unknown_keys(tree: Mapping[str, Any], sections: Mapping[str, Any], origins: Origins) -> dict[Place, str]:
    """A line for every key in `tree` that does not exist, with the most similar one that does; by path."""
    return {
        path: f"{named(path, origins)}: there is no such {'section' if len(path) == 1 else 'key'}; "
        f"{_hint(path, known, origins)}"
        for path, known in _unknown((), tree, sections)
    }


def explain(error: ValidationError, origins: Origins, *, told: Collection[Place] = ()) -> list[str]:
    """A line for every fault, without unknown keys at the paths in `told`."""
    lines = []
    for fault in error.errors(include_url=False):
        path = tuple(str(step) for step in fault["loc"])
        if fault["type"] == "extra_forbidden" and path in told:
            continue
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if fault["type"] in _LIST_TYPES:
            message = _LIST_IN_A_VARIABLE if origins.is_variable(path) else "should be a list"
        lines.append(f"{named(path, origins)}{_got(path, fault)}: {message[:1].lower()}{message[1:]}")
    return list(dict.fromkeys(lines))


def named(path: Place, origins: Origins) -> str:
    """The key at `path` as the user wrote it, and where."""
    written = origins.written(path)
    origin = origins.of(path)
    return written if origin in {written, DEFAULT} else f"{written} (in {origin})"


def _got(path: Place, fault: Mapping[str, Any]) -> str:
    value = fault["input"]
    # Whole tables are not echoed: they hold more than the fault, perhaps secrets.
    if fault["type"] == "missing" or isinstance(value, Mapping | BaseModel):
        return ""
    shown = repr(masked(path, value))
    return f" = {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"


def _unknown(path: Place, tree: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[tuple[Place, list[str]]]:
    for key, value in tree.items():
        if key not in known:
            yield (*path, key), list(known)
        else:
            yield from _inside((*path, key), value, known[key])


def _inside(path: Place, value: Any, annotation: Any) -> Iterator[tuple[Place, list[str]]]:
    """The unknown keys of a section, of a table of sections, or of a list of them."""
    if isinstance(value, list):
        for number, inner in enumerate(value):
            for option in get_args(annotation):
                yield from _inside((*path, str(number)), inner, option)
    elif not isinstance(value, Mapping):
        return
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation.model_config.get("extra") != "allow":
            fields = {field.alias or name: field.annotation for name, field in annotation.model_fields.items()}
            yield from _unknown(path, value, fields)
    elif get_origin(annotation) is dict:
        for key, inner in value.items():
            yield from _inside((*path, key), inner, get_args(annotation)[1])
    else:
        # Only validation can tell which of several models is meant.
        options = [option for option in get_args(annotation) if option is not NoneType]
        if len(options) == 1:
            yield from _inside(path, value, options[0])


def _hint(path: Place, known: list[str], origins: Origins) -> str:
    plain = [path[0], *("NAME" if step.isdigit() else step for step in path[1:])]
    if path[0] in {"subjects", "webhooks"}:
        plain[1:2] = ["NAME"]
    if gone := GONE.get(".".join(plain)):
        return gone
    near = nearest(path[-1], known)
    if near:
        meant = (*path[:-1], near)
        return f"did you mean {origins.set_by(meant) if origins.is_variable(path) else '.'.join(meant)}?"
    return f"allowed are {', '.join(known)}"
