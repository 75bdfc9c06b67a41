"""Named or not by rules alone, and replacements without a model, on the annotated entities of Re-DocRED.

The rules were made with the documents of even number before the eyes, from 0 on; the figures are those of the odd ones.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets import rows
from benchmarks.tables import table
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.synonyms.classes import EntityClass
from checkers.extraction.synonyms.generator import Replacement, SynonymGenerator
from checkers.extraction.synonyms.naming import Naming, naming_of
from checkers.extraction.synonyms.questions import SynonymPrompts
from models.text.tagger import tag_words
from models.text.tokens import tokens

LEAST_DECIDED = 0.9

_TYPES: dict[str, frozenset[EntityClass]] = {
    "PER": frozenset({EntityClass.PERSON}),
    # The data counts nations and what belongs to them as places, and faiths as organisations.
    "LOC": frozenset({EntityClass.PLACE, EntityClass.PEOPLE}),
    "ORG": frozenset({EntityClass.ORGANISATION, EntityClass.PEOPLE}),
    "TIME": frozenset({EntityClass.DATE}),
    "NUM": frozenset({EntityClass.NUMBER}),
}
"""The classes that are right for each type of the data. MISC is all else, named or not."""
_NOUN = "common nouns"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its annotated entities."""

    located: Located
    types: dict[str, str]


def sentences(data: Path, *, odd: bool) -> Iterator[Sentence]:
    """The sentences that have entities, of the documents of odd or of even number."""
    for document in list(rows(data, "docred", "redocred_dev_sample.jsonl"))[int(odd) :: 2]:
        for number, text in enumerate(document["sentences"]):
            types = {
                mention["name"]: entity["type"]
                for entity in document["entities"]
                for mention in entity["mentions"]
                if mention["sent_id"] == number
            }
            if types:
                yield Sentence(find_mentions(text, list(types)), types)


def print_naming(data: Path) -> bool:
    """Print both tables; False if the rules decide less than they should."""
    kept = list(sentences(data, odd=True))
    namings: dict[str, list[Naming]] = {}
    for one in kept:
        for at, entity in enumerate(one.located.entities):
            namings.setdefault(one.types[entity], []).append(naming_of(one.located, at))
        nouns = find_mentions(one.located.text, list(_nouns(one)))
        namings.setdefault(_NOUN, []).extend(naming_of(nouns, at) for at in range(len(nouns.entities)))
    order = [*_TYPES, "MISC"]
    every = [naming for kind in order for naming in namings[kind]]
    print(
        table(
            ["type", "entities", "decided", "right of these", "with a class", "right of these"],
            [
                *(_row(kind, namings[kind], _TYPES.get(kind)) for kind in order),
                _row("all", every, None),
                _row(_NOUN, namings[_NOUN], frozenset()),
            ],
        )
    )
    print()
    asyncio.run(_print_replaced(kept))
    return sum(naming.named is not None for naming in every) >= LEAST_DECIDED * len(every)


def _row(kind: str, namings: list[Naming], right: frozenset[EntityClass] | None) -> list[object]:
    decided = [naming for naming in namings if naming.named is not None]
    classes = [naming.entity_class for naming in namings if naming.entity_class is not None]
    is_named = kind != _NOUN
    return [
        kind,
        len(namings),
        _share(naming.named is not None for naming in namings),
        None if right is None else _share(naming.named is is_named for naming in decided),
        _share(naming.entity_class is not None for naming in namings) if is_named else None,
        _share(one in right for one in classes) if right and classes else None,
    ]


def _nouns(one: Sentence) -> Iterator[str]:
    """Common nouns, as the tagger finds them, that no annotation has a part in."""
    found = tokens(one.located.text)
    annotated = " ".join(one.types).lower().split()
    for token, tag in zip(found, tag_words([token.text for token in found]), strict=True):
        if tag in {"NN", "NNS"} and token.text.isalpha() and token.text.lower() not in annotated:
            yield token.text


async def _print_replaced(kept: list[Sentence]) -> None:
    """How far kept libraries go without a model."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    whole = 0
    for number, one in enumerate(kept):
        generator = SynonymGenerator(None, SynonymPrompts(), seed=str(number))
        results = await generator.replacements(one.located)
        whole += all(isinstance(result, Replacement) for result in results)
        for result in results:
            total[one.types[result.entity]] += 1
            found[one.types[result.entity]] += isinstance(result, Replacement)
    order = [*_TYPES, "MISC"]
    print(
        table(
            ["replaced without a model", *order, "all", "sentences, all of their entities"],
            [
                [
                    "share",
                    *(found[kind] / total[kind] for kind in order),
                    found.total() / total.total(),
                    whole / len(kept),
                ]
            ],
        )
    )


def _share(values: Iterable[bool]) -> float | None:
    known = list(values)
    return sum(known) / len(known) if known else None
