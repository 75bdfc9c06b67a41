"""Where a message stood."""

from schemas.base import Wire


class Origin(Wire):
    """A message's place: while its topic keeps it, it can be read there again."""

    topic: str
    partition: int
    offset: int
