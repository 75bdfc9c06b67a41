"""From the names of text matchers to figures: the triplets of a relation side by side, each base against its texts."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from assay.audit.source import CannotAudit, Material
from assay.in_order import in_order
from assay.progress import progress
from checkers.oracle.protocol import Oracle, OracleFailed, OracleUnavailable, StillLoading
from checkers.retrieval.audit.cases import Figure
from checkers.retrieval.audit.matchers import Matched, TextMatcher, matcher_figures
from checkers.retrieval.questions import Questions
from checkers.retrieval.settings import RetrievalSettings
from checkers.retrieval.triplets import Triplet
from checkers.wording import plain

if TYPE_CHECKING:
    from assay.config import Configuration

FORMS = "judge (the configured one), local (the local judge) or cross-encoder:NAME"

PATIENCE_SECONDS = 60.0
"""How long a model may be away before the audit ends."""

_SHORTEST_PAUSE_SECONDS = 0.05

_CROSS_ENCODER = "cross-encoder"


def check_matchers(names: Sequence[str]) -> None:
    """Raise CannotAudit where a name is that of no matcher."""
    for name in names:
        kind, _, model = name.partition(":")
        if name not in ("judge", "local") and not (kind == _CROSS_ENCODER and model):
            raise CannotAudit(f"--matcher {name!r}: allowed are {FORMS}")


async def audit_matchers(
    names: Sequence[str],
    material: Material,
    loaded: "Configuration",
    on_figures: Callable[[Sequence[Figure]], object],
) -> None:
    """Tell figures for every relation and order, in that order, as soon as a matcher is done.

    Raises:
        CannotAudit: a matcher decided nothing, or a template of the configuration cannot be used.
        OracleUnavailable: a model was away for too long.
    """
    settings = loaded.checkers.get("retrieval")
    try:
        questions = Questions(settings.prompts if isinstance(settings, RetrievalSettings) else None)
    except ValueError as error:
        raise CannotAudit(str(error)) from None
    for name in names:
        async with _oracle(name, loaded) as oracle:
            matcher = TextMatcher(oracle, questions)
            on_figures(await _Run(oracle.name, matcher, material, window=loaded.judge.concurrency).figures())


@asynccontextmanager
async def _oracle(name: str, loaded: "Configuration") -> AsyncIterator[Oracle]:
    from checkers.oracle.build import build_oracle
    from checkers.oracle.settings import JudgeSettings
    from checkers.retrieval.matching.cross_encoder import CrossEncoderOracle

    oracle: Oracle
    kind, _, model = name.partition(":")
    if kind == _CROSS_ENCODER:
        oracle = CrossEncoderOracle(model)
    else:
        oracle = build_oracle(loaded.judge if name == "judge" else JudgeSettings())
    try:
        yield oracle
    finally:
        await oracle.close()


class _Run:
    """One matcher over all triplets."""

    def __init__(self, name: str, matcher: TextMatcher, material: Material, *, window: int) -> None:
        self._name = name
        self._matcher = matcher
        self._material = material
        self._window = window
        self._down_since: float | None = None
        self._failed = 0
        self._failure = ""

    async def figures(self) -> list[Figure]:
        total = sum(len(group) for group in self._material.groups.values())
        found: list[Figure] = []
        name = plain(self._name)
        with progress(bar=sys.stderr.isatty(), total=total) as shown:
            done = 0

            def told() -> None:
                nonlocal done
                done += 1
                shown.at(done, f"{name}: {done} of {total} triplets")

            for relation, triplets in self._material.groups.items():
                matched = await self._group(triplets, told)
                if matched:
                    found.extend(matcher_figures(self._name, relation, matched))
            if not found:
                raise CannotAudit(f"{name} decided no triplet: {plain(self._failure)}")
            if self._failed:
                shown.say(f"{name}: {self._failed} of {total} triplets undecided, first: {plain(self._failure)}")
        return found

    async def _group(self, triplets: Sequence[Triplet], told: Callable[[], None]) -> list[Matched]:
        """What was said of those triplets that it could decide."""
        matched: list[Matched] = []

        async def places() -> AsyncIterator[int]:
            for place in range(len(triplets)):
                yield place

        def emit(one: Matched | None) -> None:
            if one is not None:
                matched.append(one)
            told()

        await in_order(places(), lambda place: self._matched(triplets, place), emit, window=self._window)
        return matched

    async def _matched(self, triplets: Sequence[Triplet], place: int) -> Matched | None:
        while True:
            try:
                found = await self._matcher.matched(triplets, place)
            except OracleFailed as error:
                self._failed += 1
                self._failure = self._failure or error.detail
                return None
            except StillLoading as error:
                # No outage: it will be there, however long that takes.
                await asyncio.sleep(max(error.retry_after, _SHORTEST_PAUSE_SECONDS))
            except OracleUnavailable as error:
                now = time.monotonic()
                self._down_since = self._down_since or now
                if now - self._down_since >= PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(min(max(error.retry_after, _SHORTEST_PAUSE_SECONDS), PATIENCE_SECONDS))
            else:
                self._down_since = None
                return found
