"""What an export came to, for the person who asked for it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

_NAMED = 10


@dataclass(slots=True)
class Named:
    """A number of records, the first of them by name."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """Count one."""
        self.count += 1
        if len(self.names) < _NAMED:
            self.names.append(name)

    def __str__(self) -> str:
        more = f" and {self.count - len(self.names)} more" if self.count > len(self.names) else ""
        return f"{', '.join(self.names)}{more}"


@dataclass(slots=True)
class Report:
    """Counts, as the reading goes on."""

    topic: str
    selected: int = 0
    """Different messages that the selection takes."""
    lines: int = 0
    repeats: int = 0
    """Messages with an id that was there before."""
    unreadable: int = 0
    not_improved: int = 0
    gone: Named = field(default_factory=Named)
    """Records that their topic does not hold any more, or whose place nobody noted."""
    without_prompt: Named = field(default_factory=Named)
    """Records that do not tell what the model was asked."""

    def summary(self) -> Iterator[str]:
        """The summary, a line at a time; quotes names that producers chose."""
        yield f"{_count(self.lines, 'line')} from {_count(self.selected, 'selected message')} on {self.topic}"
        if self.not_improved:
            yield f"  {self.not_improved} left out, as the response could not be improved"
        if self.without_prompt.count:
            yield f"  {self.without_prompt.count} left out, as the record holds no prompt: {self.without_prompt}"
        if self.gone.count:
            yield f"  {self.gone.count} whose record is no longer on its topic: {self.gone}"
        if self.repeats:
            yield f"  {_count(self.repeats, 'repeated message')} passed over"
        if self.unreadable:
            yield f"  {_count(self.unreadable, 'message')} passed over that could not be read"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
