"""When one message is given up that is tried again and again."""

import time

_STRIKES = 3
"""Failures of one message while others succeed: one or two may be chance, as where one of two instances is down."""


class Patience:
    """With one message. It is not given up while others do not succeed either."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: time after which the message may be given up."""
        self._seconds = seconds
        self._taken: int | None = None
        self._strikes = 0
        self._since = 0.0

    def ends(self, taken: int) -> bool:
        """True if the message is to be given up, after a failure and `taken` other messages that succeeded."""
        before, self._taken = self._taken, taken
        if before is None or taken == before:
            return False
        now = time.monotonic()
        self._strikes += 1
        if self._strikes == 1:
            self._since = now
        return self._strikes >= _STRIKES and now - self._since >= self._seconds
