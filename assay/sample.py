"""Lines drawn at random from a file, their true cost, and an estimate of the cost of the whole file."""

from collections.abc import AsyncIterator, Iterator, Sequence
from math import sqrt
from statistics import NormalDist, mean, stdev

from assay.file_check import CheckedLine
from assay.lines import Line
from checkers.draws import generator
from schemas import Usage

_CONFIDENCE = 0.95


class Sample:
    """Draws lines, and adds up what checking them cost."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lines = 0
        self._usages: list[Usage] = []

    async def draw(self, lines: AsyncIterator[Line]) -> AsyncIterator[Line]:
        """Up to `size` of the lines, in their order, each line with the same chance; a file's are always the same."""
        drawn: list[Line] = []
        draw = generator("check", "sample")
        async for line in lines:
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
        yield f"{len(usages):,} of {self._lines:,} lines drawn at random; what the whole file costs is estimated"
        yield f"{'':<15}{'these':>12}{'whole file':>14}  ({_CONFIDENCE:.0%} interval)"
        # Checks run at the same time: each is counted with its part of the time that all took.
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
        low, high = _interval(costs, self._lines)
        return f"{row}  ({low:{number}} to {high:{number}})"


def _interval(costs: Sequence[float], lines: int) -> tuple[float, float]:
    """The interval of the sum over all `lines`, by Student's t for a sample drawn without putting back."""
    drawn, free = len(costs), len(costs) - 1
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    # The first terms of t's quantile in powers of 1 / degrees of freedom.
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    half = t * lines * stdev(costs) * sqrt((1 - drawn / lines) / drawn)
    estimated = lines * mean(costs)
    # What was spent is certain.
    return max(estimated - half, sum(costs)), estimated + half
