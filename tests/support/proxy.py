"""Ports before the nodes of a cluster, so that a node can be cut off from all others without a right to do so.

What is under way on a connection to or from a node that is cut off stands still, and comes when the cut is healed, as
TCP has it; nobody is told. New connections are taken and stand still, too.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

import psutil

_CHUNK = 65_536


class _Connection(NamedTuple):
    """One connection to the node `target`; `ports` are that of its other end and the one that it came in by."""

    ports: tuple[int, int]
    target: int
    open: asyncio.Event

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self.open.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


class Proxies:
    """Forwards each port to one of a node, from a thread of its own while the context is open."""

    def __init__(self, ports: Mapping[int, tuple[int, int]], process_of: Callable[[int], int | None]) -> None:
        """`ports`: by port the node behind it and its own port. `process_of`: the process id of a node that runs."""
        self._ports = ports
        self._process_of = process_of
        self._cut: int | None = None
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="proxies")

    def __enter__(self) -> Self:
        self._thread.start()
        for port in self._ports:
            asyncio.run_coroutine_threadsafe(self._listen(port), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def cut(self, node: int | None) -> None:
        """Carry nothing to or from this node, and all to and from the others; with None, everything."""
        asyncio.run_coroutine_threadsafe(self._set_cut(node), self._loop).result()

    async def _set_cut(self, node: int | None) -> None:
        # First new connections are looked up, then those there are: none that is made meanwhile is missed.
        self._cut = node
        for connection in self._connections:
            connection.open.set()
        of_node = await asyncio.to_thread(self._ports_of, node)
        for connection in self._connections:
            if connection.target == node or connection.ports in of_node:
                connection.open.clear()

    async def _listen(self, port: int) -> None:
        target, behind = self._ports[port]

        async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = _Connection((writer.get_extra_info("peername")[1], port), target, asyncio.Event())
            connection.open.set()
            self._connections.add(connection)
            # Looked up while there is a cut alone: it takes a while, and clients connect often.
            if (node := self._cut) is not None:
                of_node = target == node or connection.ports in await asyncio.to_thread(self._ports_of, node)
                if of_node and self._cut == node:
                    connection.open.clear()
            try:
                await connection.open.wait()
                there, back = await asyncio.open_connection("127.0.0.1", behind)
            except OSError:
                writer.close()
            else:
                await asyncio.gather(connection.carry(reader, back), connection.carry(there, writer))
            finally:
                self._connections.discard(connection)

        await asyncio.start_server(taken, "127.0.0.1", port, backlog=1024)

    def _ports_of(self, node: int | None) -> set[tuple[int, int]]:
        """The own port and the other end's of each connection of a node's process: other processes' may share one."""
        process = None if node is None else self._process_of(node)
        if process is None:
            return set()
        with contextlib.suppress(psutil.NoSuchProcess):
            connections = psutil.Process(process).net_connections("tcp")
            return {(each.laddr.port, each.raddr.port) for each in connections if each.raddr}
        return set()
