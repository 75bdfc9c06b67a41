"""Ports of loopback for servers of a test's own."""

import random
import socket
from contextlib import ExitStack

_BELOW_EPHEMERAL = range(10_240, 30_000)
"""No system hands these out by itself (Linux begins at 32768, others at 49152) to those who ask for any port."""


def free_port() -> int:
    """A port that nothing listens on, and that nobody else is given by chance before or while its server is down."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """So many of them, no two the same."""
    # Not the tests' seed, which all workers of a run share.
    drawn = random.SystemRandom()
    found: list[int] = []
    with ExitStack() as stack:
        while len(found) < count:
            probe = stack.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", drawn.choice(_BELOW_EPHEMERAL)))
            except OSError:
                continue
            found.append(int(probe.getsockname()[1]))
    return found
