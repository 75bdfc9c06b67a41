"""Which verdicts and improvements are exported."""

from dataclasses import dataclass
from datetime import datetime

from streams.heads import Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """All of what is not None must hold."""

    source: str | None = None
    model: str | None = None
    checker: str | None = None
    since: datetime | None = None
    """This moment, or later."""
    until: datetime | None = None
    """Before this moment."""

    def takes(self, head: Head) -> bool:
        """Whether a message with this head is wanted."""
        return (
            self.source in {None, head.source}
            and self.model in {None, head.model}
            and self.checker in {None, head.checker}
            and (self.since is None or head.at >= self.since)
            and (self.until is None or head.at < self.until)
        )
