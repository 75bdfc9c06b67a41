"""Which verdicts and improvements are exported."""

from dataclasses import dataclass
from datetime import datetime

from streams.lookup import ResultHeader


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

    def takes(self, header: ResultHeader) -> bool:
        """Whether a message with this header is wanted."""
        return (
            self.source in {None, header.source}
            and self.model in {None, header.model}
            and self.checker in {None, header.checker}
            and (self.since is None or header.at >= self.since)
            and (self.until is None or header.at < self.until)
        )
