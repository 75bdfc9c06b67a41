"""When a message is given up: its target fails on it again and again, while it takes others."""

import time

_STRIKES = 3
"""Once or twice it may have been chance, as where one of two instances is down."""


class Patience:
    """With one message; while its target takes nothing at all, no message is to blame, and none is given up."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: how long the message may be in trouble."""
        self._seconds = seconds
        self._taken: int | None = None
        self._strikes = 0
        self._since = 0.0

    def ends(self, taken: int) -> bool:
        """The target failed on the message, and has taken `taken` others so far; whether to give it up."""
        before, self._taken = self._taken, taken
        if before is None or taken == before:
            return False
        now = time.monotonic()
        self._strikes += 1
        if self._strikes == 1:
            self._since = now
        return self._strikes >= _STRIKES and now - self._since >= self._seconds
