"""The result of a run in numbers: outcomes by checker, cost, faults, and the estimated cost of a whole file."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from statistics import mean
from textwrap import wrap

from assay.file_check import CheckedLine
from checkers.draws import generator
from checkers.intervals import total
from models.wording import counted
from schemas import OUTCOMES, Abstention, Outcome, Usage, Verdict
from schemas.base import BUNDLED_NOTE, is_bundled
from streams.record_lines import Line

_WIDTH = 80


class Summary:
    """Adds up verdicts and faults."""

    def __init__(self) -> None:
        self.records = 0
        self.unfinished = 0
        """Lines with missing verdicts."""
        self.loading_seconds = 0.0
        """Time of loading models, which the rate does not include."""
        self._started = time.monotonic()
        self._outcomes: dict[str, Counter[Outcome]] = {}
        self._passed_over: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._first_reason = ""
        self._usage = Usage()
        self._bundled = 0

    @property
    def working_seconds(self) -> float:
        """Since the start, without the time of loading models."""
        return max(time.monotonic() - self._started - self.loading_seconds, 0.0)

    @property
    def rejected(self) -> int:
        return self._total("reject")

    @property
    def decided(self) -> int:
        return self.rejected + self._total("accept")

    @property
    def accepted_rate(self) -> float:
        """Accepted verdicts among the decided ones; there must be one."""
        return self._total("accept") / self.decided

    @property
    def why_undecided(self) -> str:
        """The causes of the abstentions, and the reason of the first."""
        if not self._causes:
            return "no selected checker checks a kind that is in the file"
        causes = ", ".join(f"{cause} {number}" for cause, number in self._causes.most_common())
        return f"{causes}. The first: {self._first_reason}"

    def add(self, checked: CheckedLine) -> None:
        self.records += checked.kind is not None
        self.unfinished += bool(checked.faults)
        if checked.kind is not None and not checked.taken:
            self._passed_over[checked.kind] += 1
            return
        for verdict in checked.verdicts:
            self.count(verdict)

    def count(self, verdict: Verdict) -> None:
        self._outcomes.setdefault(verdict.checker, Counter())[verdict.outcome] += 1
        self._usage += verdict.usage
        self._bundled += verdict.outcome != "abstain" and is_bundled(verdict.judge)
        if isinstance(verdict.evidence, Abstention):
            self._causes[verdict.evidence.cause] += 1
            self._first_reason = self._first_reason or verdict.reason

    def lines(self) -> Iterator[str]:
        """The summary, a line at a time."""
        seconds = time.monotonic() - self._started
        loading = f" ({self.loading_seconds:.1f} s of it to load models)" if self.loading_seconds >= 0.1 else ""
        working = self.working_seconds
        rate = f", {self.records / working:.1f} records a second" if self.records and working >= 0.1 else ""
        yield f"{counted(self.records, 'record')} in {seconds:.1f} s{loading}{rate}"
        for checker, outcomes in sorted(self._outcomes.items()):
            counts = "   ".join(f"{outcome} {outcomes[outcome]}" for outcome in OUTCOMES)
            yield f"  {checker}: {counts}"
        if self._usage.calls or self._usage.cached:
            yield f"  asked: {self._cost()}"
        if self._bundled:
            note = f"  {self._bundled} {BUNDLED_NOTE}"
            yield from wrap(note, _WIDTH, subsequent_indent="    ")
        if self._passed_over:
            kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(self._passed_over.items()))
            yield f"  abstained, as no selected checker checks the kind: {kinds}"
        if self.unfinished:
            yield f"  {counted(self.unfinished, 'line')} could not be finished, see above"

    def _total(self, outcome: Outcome) -> int:
        return sum(outcomes[outcome] for outcomes in self._outcomes.values())

    def _cost(self) -> str:
        usage = self._usage
        said = [f"{counted(usage.calls, 'call')} ({usage.subject_calls} to subjects)", f"{usage.cached} from the cache"]
        if usage.prompt_tokens or usage.completion_tokens:
            estimated = f" ({usage.estimated_tokens} of them estimated)" if usage.estimated_tokens else ""
            said.append(f"{usage.prompt_tokens} + {usage.completion_tokens} tokens{estimated}")
        if usage.cost:
            said.append(f"cost {usage.cost:.4g}")
        return ", ".join(said)


class FileSample:
    """Draws lines, and adds up the cost of checking them."""

    def __init__(self, lines: AsyncIterator[Line], size: int) -> None:
        """Draws `size` of `lines`, or all if there are no more."""
        self._from = lines
        self._size = size
        self._lines = 0
        self._usages: list[Usage] = []

    async def lines(self) -> AsyncIterator[Line]:
        """The drawn lines in order: each with the same probability, and always the same of a file."""
        drawn: list[Line] = []
        draw = generator("check", "sample")
        async for line in self._from:
            self._lines += 1
            if len(drawn) < self._size:
                drawn.append(line)
            elif (place := draw.randrange(self._lines)) < self._size:
                drawn[place] = line
        for line in sorted(drawn, key=lambda line: line.number):
            yield line

    def add(self, checked: CheckedLine) -> None:
        """Count the cost of a drawn line."""
        self._usages.append(sum((verdict.usage for verdict in checked.verdicts), Usage()))

    def report(self, seconds: float) -> Iterator[str]:
        """The costs as a table, a line at a time; `seconds` is the time that all checks took together."""
        if not (usages := self._usages):
            return
        yield f"{len(usages):,} of {self._lines:,} records drawn at random; the cost of all is estimated"
        yield f"{'':<15}{'these':>12}{'all':>14}  (95% interval)"
        # Checks overlap: each counts with its part of the whole time.
        apart = sum(usage.seconds for usage in usages) or 1.0
        yield self._row("calls", [usage.calls for usage in usages])
        yield self._row("prompt tokens", [usage.prompt_tokens for usage in usages])
        yield self._row("reply tokens", [usage.completion_tokens for usage in usages])
        if any(usage.cost for usage in usages) or not any(usage.prompt_tokens for usage in usages):
            yield self._row("price", [usage.cost for usage in usages], digits=4)
        else:
            yield f"  {'price':<13}{'not set':>12}"
        yield self._row("seconds", [usage.seconds * seconds / apart for usage in usages], digits=1)

    def _row(self, name: str, costs: Sequence[float], digits: int = 0) -> str:
        number = f",.{digits}f"
        row = f"  {name:<13}{sum(costs):>12{number}}{self._lines * mean(costs):>14{number}}"
        if len(costs) == 1:
            return row
        low, high = total(costs, self._lines)
        return f"{row}  ({low:{number}} to {high:{number}})"
