"""Ports of loopback for servers of a test's own."""

import random
import socket
from contextlib import ExitStack

_BELOW_EPHEMERAL = range(10_240, 30_000)
"""No system hands these out by itself: Linux begins at 32768, others at 49152."""


def lasting_port() -> int:
    """A free port that nobody else is given by chance, so that a server may leave it and come back to it."""
    # Not the tests' seed, which all workers of a run share.
    drawn = random.SystemRandom()
    while True:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", drawn.choice(_BELOW_EPHEMERAL)))
            except OSError:
                continue
            return int(probe.getsockname()[1])


def free_port() -> int:
    """A port that nothing listens on."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """So many ports, no two the same, that nothing listens on."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
