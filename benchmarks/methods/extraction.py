"""Extraction: the model's own lists of a sentence's entities (DocRED), put to the linearity test."""

import argparse
import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from random import Random

from benchmarks import datasets
from benchmarks.methods.model import asked
from benchmarks.tables import table
from checkers.checker import Models
from checkers.extraction.checker import ExtractionChecker, ExtractionSettings
from checkers.extraction.questions import ExtractionPrompts
from checkers.intervals import wilson
from models.protocol import ModelFailed
from schemas import Abstention, Extraction, ExtractionEvidence

_BEFORE = re.compile(r" (?=[,.;:!?%)\]])|(?<=[(\[]) ")
_WORDS = range(8, 41)


def measure(options: argparse.Namespace) -> None:
    """Print how many lists are accepted, rejected and undecided, and why."""
    with asked(options) as models:
        found = asyncio.run(_outcomes(options, models))
    counts = Counter(outcome for outcome, _ in found)
    rows = [
        [outcome, count, "{:.2f} to {:.2f}".format(*wilson(count, len(found)))] for outcome, count in counts.items()
    ]
    print(table(["outcome", "sentences", "95%"], rows))
    untested = [one for _, evidence in found if evidence for one in evidence.untested if one.reason != "repeated"]
    print(f"\nentities tested {sum(len(one.entities) for _, one in found if one)}, untested {len(untested)}")
    steady = [one.repeats == 1 for _, one in found if one is not None and one.answers]
    print(f"steady at temperature 0: {sum(steady)} of {len(steady)} sentences")


async def _outcomes(options: argparse.Namespace, models: Models) -> list[tuple[str, ExtractionEvidence | None]]:
    settings = ExtractionSettings()
    checker, prompts, subject = ExtractionChecker(settings, models), ExtractionPrompts(), models.subjects[options.model]
    found: list[tuple[str, ExtractionEvidence | None]] = []
    sentences = sorted(_sentences(options))
    for number, text in enumerate(Random(1).sample(sentences, options.rows)):
        try:
            named = (await subject.ask(prompts.entities(text))).reply.entities
            listed = [one for one in named if one.entity not in prompts.example or one.entity in text]
        except ModelFailed as failure:
            found.append((f"no list: {failure.cause_of_subject}", None))
            continue
        fields = {"id": str(number), "kind": "extraction", "source": "docred", "model": options.model, "text": text}
        entities = [one.model_dump(by_alias=True) for one in listed]
        verdict = await checker.check(Extraction.model_validate({**fields, "entities": entities}))
        evidence = verdict.evidence
        if isinstance(evidence, Abstention):
            found.append((f"abstain: {evidence.cause}", None))
        elif isinstance(evidence, ExtractionEvidence):
            found.append((verdict.outcome, evidence))
        print(f"{number} {found[-1][0]} {verdict.reason}", flush=True)
    return found


def _sentences(options: argparse.Namespace) -> Iterator[str]:
    """Those of a usual length that name two or more."""
    for row in datasets.rows(options.data, "docred", "redocred_dev_sample.jsonl"):
        named = Counter(place for entity in row["entities"] for place in {one["sent_id"] for one in entity["mentions"]})
        for place, sentence in enumerate(row["sentences"]):
            if len(sentence.split()) in _WORDS and named[place] > 1:
                yield _BEFORE.sub("", sentence)
