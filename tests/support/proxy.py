"""Ports before the nodes of a cluster, so that a node can be cut off from all others without a right to do so.

What is under way on a connection to or from a node that is cut off stands still, and comes when the cut is healed, as
TCP has it; nobody is told. New connections are taken and stand still, too.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Self

import psutil

_CHUNK = 65_536


class _Connection:
    """One connection through a port: from a client, or the node `source`, to the node `target`."""

    def __init__(self, source: int | None, target: int) -> None:
        self.ends = {source, target}
        self.open = asyncio.Event()
        self.open.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(_CHUNK):
                await self.open.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


class Proxies:
    """Forwards each port to one of a node, from a thread of its own while the context is open."""

    def __init__(self, ports: Mapping[int, tuple[int, int]], processes: Callable[[], Mapping[int, int]]) -> None:
        """`ports`: by port the node behind it and its own port. `processes`: the nodes' processes now, by id."""
        self._ports = ports
        self._processes = processes
        self._cut: set[int] = set()
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

    def cut(self, nodes: Collection[int]) -> None:
        """Carry nothing to or from these nodes, and all to and from the others."""
        self._loop.call_soon_threadsafe(self._set_cut, set(nodes))

    def _set_cut(self, nodes: set[int]) -> None:
        self._cut = nodes
        for connection in self._connections:
            self._set_open(connection)

    def _set_open(self, connection: _Connection) -> None:
        (connection.open.clear if connection.ends & self._cut else connection.open.set)()

    async def _listen(self, port: int) -> None:
        target, behind = self._ports[port]

        async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = writer.get_extra_info("peername")[1]
            source = await asyncio.to_thread(self._node_with, peer)
            connection = _Connection(source, target)
            self._connections.add(connection)
            self._set_open(connection)
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

    def _node_with(self, port: int) -> int | None:
        """The node whose process has this end of a connection; None if it is a client's."""
        for process, node in self._processes().items():
            try:
                connections = psutil.Process(process).net_connections("tcp")
            except psutil.Error:
                continue
            if any(each.laddr and each.laddr.port == port for each in connections):
                return node
        return None
