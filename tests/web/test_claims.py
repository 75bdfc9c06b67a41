"""Nothing on a verdict's page that its evidence does not say: every cause of every checker, and every look of it."""

import itertools
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, get_args

import orjson
import pytest

from schemas import Verdict
from schemas.evidence import AbstentionCause
from tests.support.page import SAMPLES, opened, sample

Json = dict[str, Any]


def causes(literal: Any) -> list[str]:
    return sorted({name for one in get_args(literal) for name in (causes(one) if get_args(one) else [one])})


def abstentions() -> Iterator[Json]:
    evidence = {"type": "abstention", "detail": "in detail"}
    for cause in causes(AbstentionCause):
        for of in ("sup-02", "par-01", "known", "echo0", "ret-03", "pro-02"):
            yield sample(of, outcome="abstain", score=None, evidence=evidence | {"cause": cause})
    graded = sample("sup-02")["evidence"]
    open_ = [one | {"unsure": not number} for number, one in enumerate(graded["sentences"])]
    for low, high in itertools.product((None, 0.3), (None, 0.7)):
        given = {"graded": graded | {"sentences": open_, "reject_below": low, "accept_from": high}, "score": 0.5}
        evidence |= {"cause": "between_thresholds", **given}
        yield sample("sup-02", outcome="abstain", score=None, evidence=evidence)


def consistencies() -> Iterator[Json]:
    evidence = sample("sup-02")["evidence"]
    lead_in = {name: evidence["sentences"][0][name] for name in ("text", "start", "end", "reason")}
    for marks, outcome, against, without in itertools.product(
        itertools.product((-1, 1), repeat=2), ("accept", "reject"), ("reference", "contexts", "samples"), (0, 1, 2)
    ):
        sentences = [one | {"mark": mark} for one, mark in zip(evidence["sentences"], marks, strict=True)]
        changed = {"sentences": sentences, "against": against, "without_claim": [lead_in] * without}
        yield sample("sup-02", outcome=outcome, score=0.5, evidence=evidence | changed)


def faults(verdict: Verdict) -> int:
    return sum(one.mark < 0 for one in verdict.evidence.sentences)


CLAIMS: dict[str, tuple[Callable[[], Iterator[Json]], dict[str, Callable[[Verdict], Any]]]] = {
    "abstention": (abstentions, {
        "Who could decide it": lambda v: True,
        "The outcome depends on the sentences marked with": lambda v: v.evidence.graded
        and v.evidence.graded.accept_from is None and v.evidence.graded.reject_below is None,
        "From 0.70 on the score is accepted": lambda v: v.evidence.graded and v.evidence.graded.accept_from,
        "below 0.30 it is rejected": lambda v: v.evidence.graded and v.evidence.graded.reject_below,
        "left open": lambda v: v.evidence.graded,
        "Sources": lambda v: True,
    }),
    "consistency": (consistencies, {
        "All of them are supported": lambda v: not faults(v) and v.outcome != "reject",
        ", marked with ✗ below": faults,
        "the threshold allows it": lambda v: faults(v) and v.outcome != "reject",
        "the score of the whole is too low": lambda v: not faults(v) and v.outcome == "reject",
        "The judge found no claim in": lambda v: v.evidence.without_claim,
        "the model’s other answers": lambda v: v.evidence.against == "samples",
    }),
}  # fmt: skip
"""By type of evidence: verdicts of every look, and what their pages may say of which."""


@pytest.mark.parametrize("kind", CLAIMS)
async def test_a_page_says_what_its_evidence_says_and_quotes_nothing_else(samples, kind):
    variants, claims = CLAIMS[kind]
    verdicts = {f"ver-{number}": one | {"id": f"ver-{number}"} for number, one in enumerate(variants())}
    samples.keep(verdicts.values())
    records = {one["record"]["id"]: one["record"] for one in SAMPLES}
    async with opened(samples) as client:
        for id_, one in verdicts.items():
            answer = await client.get(f"/verdicts/{id_}")
            assert answer.status == 200, one["evidence"]
            html = (await answer.text()).partition("<main")[2].partition("<h2>Other verdicts")[0]
            shown = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
            verdict = Verdict.model_validate(one)
            for claim, holds in claims.items():
                assert (claim in shown) == bool(holds(verdict)), (claim, one["evidence"])
            source = _texts([one, records.get(one["record_id"])])
            for quoted in re.findall(r"<q>(.*?)</q>", html):
                assert " ".join(unescape(re.sub(r"<[^>]+>", "", quoted)).rstrip("…").split()) in source


async def test_each_cause_of_an_abstention_has_words_of_its_own(samples):
    ids = {f"ver-{cause}": cause for cause in causes(AbstentionCause)}
    evidence = {"type": "abstention", "detail": ""}
    samples.keep(
        sample("sup-02", id=id_, outcome="abstain", score=None, evidence=evidence | {"cause": cause})
        for id_, cause in ids.items()
    )
    async with opened(samples) as client:
        pages = [await (await client.get(f"/verdicts/{id_}")).text() for id_ in ids]
    assert len({re.search(r"<strong>(.*?)</strong>", page)[1] for page in pages}) == len(ids)


def _texts(value: Any) -> str:
    """All texts of a document, and lists of words as a line."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, dict):
        value = list(value.values())
    return " ".join(map(_texts, value)) if isinstance(value, list) else orjson.dumps(value).decode()
