"""Stanford CoreNLP's recogniser of named entities under the linearity test, on sentences of Re-DocRED.

CoreNLP always answers the same. For the paper's correlations, which are about models that waver, each entity of its
answers is left out with a fixed probability.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import httpx
import orjson
from scipy.stats import spearmanr

from assay.testing import ScriptedModel
from benchmarks.datasets import rows
from benchmarks.running import CannotRun
from benchmarks.tables import table
from checkers.checker import Models
from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.extracted import is_among
from checkers.extraction.settings import ExtractionSettings
from checkers.extraction.subjects import CallableSubject
from schemas import Extraction, ExtractionEvidence, Verdict

SENTENCES = 300
"""That count; as many others are checked before."""
NOISY_SENTENCES = 200
TRAFFIC = "names from traffic"
NOISY = "10% left out"
LEFT_OUT = 0.1
"""The probability with which the noise leaves an entity out of an answer."""
LEAST_GAP = 0.1
"""Recall of accepted sentences less that of rejected ones."""

_PROPERTIES = orjson.dumps(
    {
        "annotators": "tokenize,ssplit,pos,lemma,ner",
        "ner.applyFineGrained": "false",
        "ner.useSUTime": "false",
        "ssplit.isOneSentence": "true",
        "outputFormat": "json",
    }
).decode()


class Recogniser:
    """CoreNLP's entities of a text with their classes; each text is sent once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx.AsyncClient(timeout=120, trust_env=False)
        self._known: dict[str, dict[str, str]] = {}

    async def classes(self, text: str) -> dict[str, str]:
        """By entity, in the order of the text."""
        if text not in self._known:
            answer = await self._client.post(self._url, params={"properties": _PROPERTIES}, content=text.encode())
            answer.raise_for_status()
            found = [one for part in answer.json()["sentences"] for one in part["entitymentions"]]
            # It takes pronouns for persons.
            names = [one for one in found if one["ner"] != "PERSON" or one["text"] != one["text"].lower()]
            self._known[text] = {one["text"]: one["ner"] for one in names}
        return self._known[text]

    async def close(self) -> None:
        await self._client.aclose()

    def checker(self, noise: Random | None = None, **settings: Any) -> ExtractionChecker:
        """One without a judge that answers, whose subject is CoreNLP, under `noise` if there is any."""

        async def extract(text: str) -> list[Mapping[str, str]]:
            found = await self.classes(text)
            return [
                {"class": kind, "entity": entity}
                for entity, kind in found.items()
                if noise is None or noise.random() >= LEFT_OUT
            ]

        subjects = {"corenlp": CallableSubject("corenlp", extract)}
        return ExtractionChecker(
            ExtractionSettings.model_validate(settings), Models(judge=ScriptedModel(), subjects=subjects)
        )


@dataclass(frozen=True, slots=True)
class Tested:
    """The verdict on one sentence."""

    recall: float
    """The share of the annotated entities that CoreNLP finds."""
    accepted: bool
    evidence: ExtractionEvidence


def _sentences(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Sentences with their annotated entities."""
    for document in rows(data, "docred", "redocred_dev_sample.jsonl"):
        for number, text in enumerate(document["sentences"]):
            mentions = [mention for entity in document["entities"] for mention in entity["mentions"]]
            if names := [mention["name"] for mention in mentions if mention["sent_id"] == number]:
                yield text, list(dict.fromkeys(names))


async def _tested(
    sentences: Sequence[tuple[str, list[str]]],
    recogniser: Recogniser,
    checkers: Iterable[ExtractionChecker],
    name: str = "",
) -> list[Tested]:
    """The sentences that are decided, each by the next of `checkers`."""
    tested = []
    for number, ((text, gold), checker) in enumerate(zip(sentences, checkers, strict=False)):
        found = list(await recogniser.classes(text))
        record = Extraction(
            kind="extraction", id=f"{name}{number}", source="s", model="corenlp", text=text, entities=tuple(found)
        )
        verdict: Verdict = await checker.check(record)
        if isinstance(verdict.evidence, ExtractionEvidence):
            recall = mean(is_among(entity, found) for entity in gold)
            tested.append(Tested(recall, verdict.outcome == "accept", verdict.evidence))
    return tested


async def _measured(data: Path, url: str) -> dict[str, list[Tested]]:
    drawn = list(_sentences(data))
    Random(7).shuffle(drawn)
    recogniser = Recogniser(url)
    try:
        drawn = [(text, gold) for text, gold in drawn[: 3 * SENTENCES] if await recogniser.classes(text)]
        before, drawn = drawn[:SENTENCES], drawn[SENTENCES : 2 * SENTENCES]
        bare = recogniser.checker(repeats=1)
        await _tested(before, recogniser, repeat(bare), "before ")
        found = {
            TRAFFIC: await _tested(drawn, recogniser, repeat(bare)),
            "names invented": await _tested(drawn, recogniser, (recogniser.checker(repeats=1) for _ in drawn)),
        }
        for rule in ("strict", "lenient"):
            noisy = recogniser.checker(Random(7), rule=rule, schedule="full")
            found[f"{NOISY}, {rule}"] = await _tested(drawn[:NOISY_SENTENCES], recogniser, repeat(noisy))
        return found
    except httpx.HTTPError as error:
        raise CannotRun(f"no CoreNLP server answers at {url}: {error}") from error
    finally:
        await recogniser.close()


def print_recogniser(data: Path, url: str | None) -> bool:
    """Print shares, recalls and correlations; False if a sign or the gap of recalls is not what it should be."""
    if url is None:
        raise CannotRun("it needs a running CoreNLP server: --corenlp URL")
    found = asyncio.run(_measured(data, url))
    header = "CoreNLP;decided;entities;accepted;false alarms;recall, accepted;recall, rejected;gap".split(";")
    print(table(header, [_row(name, tested) for name, tested in found.items()]))
    print()
    right = _gap(found[TRAFFIC]) >= LEAST_GAP
    return _print_correlations(found[f"{NOISY}, strict"]) and right


def _row(name: str, found: Sequence[Tested]) -> list[object]:
    whole = [not one.accepted for one in found if one.recall == 1]
    entities = sum(len(one.evidence.entities) for one in found)
    accepted = mean(one.accepted for one in found)
    return [name, len(found), entities, f"{accepted:.1%}", f"{mean(whole):.1%}", *_recalls(found), _gap(found)]


def _recalls(found: Sequence[Tested]) -> list[float]:
    """The mean recall of accepted and of rejected sentences; 0 where there are none."""
    sides = [[one.recall for one in found if one.accepted is side] for side in (True, False)]
    return [mean(side) if side else 0.0 for side in sides]


def _gap(found: Sequence[Tested]) -> float:
    accepted, rejected = _recalls(found)
    return accepted - rejected


def _print_correlations(found: Sequence[Tested]) -> bool:
    """Spearman's of the noisy recogniser, beside the paper's of GPT-3.5 on DocRED; False if a sign differs."""
    quantities: dict[str, list[float]] = {
        "Con_o": [one.evidence.con_o or 0 for one in found],
        "Con_rs": [one.evidence.con_rs or 0 for one in found],
        "#E": [len(one.evidence.entities) for one in found],
    }
    paper = {"A_test": (0.447, 0.422, -0.399), "A_rate": (0.789, 0.859, -0.414), "#E": (-0.264, -0.302, 1.0)}
    ours = {
        "A_test": [one.evidence.a_test or 0 for one in found],
        "A_rate": [one.evidence.a_rate or 0 for one in found],
        "#E": quantities["#E"],
    }
    rows: list[list[object]] = []
    right = True
    for name, values in ours.items():
        measured = [float(spearmanr(values, other).statistic) for other in quantities.values()]
        rows += [[name, *measured], [f"{name}, paper", *paper[name]]]
        right &= name == "A_test" or all(
            (one > 0) == (theirs > 0) for one, theirs in zip(measured, paper[name], strict=True)
        )
    print(table(["Spearman", *quantities], rows))
    return right
