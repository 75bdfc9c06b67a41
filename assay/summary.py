"""The result of a run in numbers: outcomes by checker, cost, and what could not be checked."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from assay.file_check import CheckedLine
from checkers.wording import counted
from schemas import OUTCOMES, Outcome, Usage, Verdict


class Summary:
    """Adds up verdicts and faults."""

    def __init__(self, checkers: Sequence[str]) -> None:
        self.records = 0
        self.unfinished = 0
        """Lines with missing verdicts."""
        self._started = time.monotonic()
        self._outcomes: dict[str, Counter[Outcome]] = {name: Counter() for name in checkers}
        self._passed_over: Counter[str] = Counter()
        self._usage = Usage()

    @property
    def rejected(self) -> int:
        return sum(outcomes["reject"] for outcomes in self._outcomes.values())

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

    def lines(self) -> Iterator[str]:
        """The summary, a line at a time."""
        seconds = time.monotonic() - self._started
        rate = f", {self.records / seconds:.1f} records a second" if self.records and seconds >= 0.1 else ""
        yield f"{counted(self.records, 'record')} in {seconds:.1f} s{rate}"
        for checker, outcomes in self._outcomes.items():
            counts = "   ".join(f"{outcome} {outcomes[outcome]}" for outcome in OUTCOMES)
            yield f"  {checker}: {counts}"
        yield f"  judge: {self._cost()}"
        if self._passed_over:
            kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(self._passed_over.items()))
            yield f"  abstained on, as no selected checker takes the kind: {kinds}"
        if self.unfinished:
            yield f"  {counted(self.unfinished, 'line')} could not be finished, see above"

    def _cost(self) -> str:
        usage = self._usage
        said = [counted(usage.calls, "call"), f"{usage.cached} from the cache"]
        if usage.prompt_tokens or usage.completion_tokens:
            said.append(f"{usage.prompt_tokens} + {usage.completion_tokens} tokens")
        if usage.cost:
            said.append(f"cost {usage.cost:.4g}")
        return ", ".join(said)
