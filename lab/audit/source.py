"""The triplets of an audit: those of files, or made from a user's own texts."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from assay.cli.common import CannotRun, models_of, progress
from assay.config import Configuration
from checkers.model_patience import ModelPatience
from checkers.wording import plain
from lab.audit.cases import Groups, Triplet, read_texts, read_triplets, write_triplets
from lab.audit.edits import make_triplets
from lab.audit.relations import RELATIONS, Relation

MADE: tuple[Relation, ...] = RELATIONS[:-1]
"""The relations that triplets can be made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletSource:
    """The user's choice of triplets: either `triplets` or `texts` is given."""

    triplets: tuple[Path, ...]
    texts: Path | None
    relations: tuple[Relation, ...]
    """All if empty."""
    limit: int
    """Triplets of a relation; of `texts` at most so many are tried."""
    seed: int
    save: Path | None
    """Where triplets that were made are kept."""


async def gather(source: TripletSource, configured: Configuration) -> tuple[Groups, list[str]]:
    """Read the triplets, or make them; with notes on what was left out, for the person who asked."""
    if source.texts is None:
        groups, notes = _read(source)
    elif configured.judge.backend == "local":
        raise CannotRun(
            "--texts: the local judge compares and cannot write, and positives must be written; "
            "configure an endpoint (judge.backend = 'openai'), or give --triplets"
        )
    else:
        # One more than are taken shows that there are more.
        texts = read_texts(source.texts, limit=source.limit + 1)
        groups, notes = await _made(source, texts[: source.limit], configured)
        if len(texts) > source.limit:
            notes.insert(0, f"{source.texts}: the first {source.limit} texts are taken, and there are more (--limit)")
    found = {relation: group for relation, group in groups.items() if group}
    if not found:
        why = "; ".join(notes) or f"the relations asked for are {', '.join(source.relations)}"
        raise CannotRun(f"there is no triplet to audit with: {why}")
    return found, notes + [f"{relation}: no triplet" for relation in source.relations if relation not in found]


def _read(source: TripletSource) -> tuple[Groups, list[str]]:
    groups: dict[str, list[Triplet]] = {relation: [] for relation in source.relations or RELATIONS}
    beyond: Counter[str] = Counter()
    for path in source.triplets:
        for triplet in read_triplets(path):
            group = groups.get(triplet.relation)
            if group is not None and len(group) < source.limit:
                group.append(triplet)
            elif group is not None:
                beyond[triplet.relation] += 1
    return groups, [
        f"{relation}: the first {source.limit} of {source.limit + more} triplets are taken (--limit)"
        for relation, more in beyond.items()
    ]


async def _made(source: TripletSource, texts: list[str], configured: Configuration) -> tuple[Groups, list[str]]:
    relations = source.relations or MADE
    groups: dict[str, list[Triplet]] = {relation: [] for relation in relations}
    missing: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    total, tried = len(texts) * len(relations), 0
    async with models_of(configured) as models:
        judge = models.writer
        if judge is None:
            raise CannotRun("--texts: the judge cannot write; configure an endpoint (judge.backend = 'openai')")
        try:
            with progress(total) as shown:
                patience, places = ModelPatience(shown.say), configured.judge.concurrency
                async for attempt in make_triplets(
                    texts, relations, judge, patience, seed=source.seed, concurrency=places
                ):
                    tried += 1
                    if attempt.triplet is not None:
                        groups[attempt.relation].append(attempt.triplet)
                    else:
                        missing[attempt.relation, attempt.missing] += 1
                        failures += [attempt.failure] if attempt.failure else []
                    shown.at(tried, f"{tried} of {total} triplets tried, {tried - missing.total()} made")
        finally:
            # Also if the judge is lost: the others may have taken it hours.
            if source.save is not None and any(groups.values()):
                write_triplets(source.save, (triplet for group in groups.values() for triplet in group))
    notes = [f"{relation}: {count} of {len(texts)} texts {why}" for (relation, why), count in missing.items()]
    return groups, notes + [f"the judge failed first with: {plain(failure)}" for failure in failures[:1]]
