"""Ports of loopback for servers of a test's own."""

import socket
from contextlib import ExitStack


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
