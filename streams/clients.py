"""Kafka clients from the settings: one place for addresses, TLS and SASL."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Protocol

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError
from aiokafka.helpers import create_ssl_context

from streams.errors import BrokerUnavailable
from streams.settings import DeliverySettings, KafkaSettings, StreamSettings

REQUEST_TIMEOUT_SECONDS = 60.0
"""A broker restarts within some 45 s, reading its log included; a verdict under way must outlive that. A connection
that died silently is given up after the same time."""

FETCH_WAIT_SECONDS = 0.05
"""A broker answers a fetch after that time at the latest. Faust fixes 1.5 s, and a fetch covers all partitions of a
broker: one busy partition then stalls behind three idle ones. 50 ms cost 20 small requests a second when idle."""

_MAX_POLL_INTERVAL_SECONDS = 7 * 24 * 3600.0
"""While a judge or a broker is down nothing is fetched, over a long weekend perhaps. The group must not take the
partitions away for that: another worker would stand before the same dead judge."""

_LETTING_GO_SECONDS = 10.0
"""Cancelled checks are waited for two seconds; the rest is for a machine that is busy to its limits."""

_CLIENT_ID = "assay"
"""This client's name in the brokers' logs, metrics and quotas; a quota can go by the user instead."""

_HEARTBEATS_PER_SESSION = 3
"""One lost heartbeat, and one late one, must not cost the partitions."""

_ADMIN_TIMEOUT_SECONDS = 15.0
"""Metadata and topic creation take well below a second; a wrong port should be reported soon."""


class Consumer(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka is untyped
    """A consumer that also stops while no broker answers."""

    @property
    def client(self) -> AIOKafkaClient:
        """Its client, for requests of other kinds, as a producer has it."""
        return self._client

    async def stop(self) -> None:
        try:
            await super().stop()
        except asyncio.CancelledError:
            # Of aiokafka's own tasks: a fetch that waits to be repeated passes its cancellation on.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            await self._client.close()


class _Client(Protocol):
    async def start(self) -> None: ...


def connection(kafka: KafkaSettings) -> dict[str, Any]:
    """Connection arguments of any aiokafka client."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": kafka.servers,
        "client_id": _CLIENT_ID,
        "security_protocol": kafka.security_protocol,
    }
    if kafka.sasl_mechanism is not None and kafka.sasl_password is not None:
        arguments |= {
            "sasl_mechanism": kafka.sasl_mechanism,
            "sasl_plain_username": kafka.sasl_username,
            "sasl_plain_password": kafka.sasl_password.get_secret_value(),
        }
    if kafka.security_protocol.endswith("SSL"):
        arguments["ssl_context"] = create_ssl_context(
            cafile=kafka.ssl_cafile, certfile=kafka.ssl_certfile, keyfile=kafka.ssl_keyfile
        )
    return arguments


async def start(client: _Client, kafka: KafkaSettings) -> None:
    """Connect.

    Raises:
        BrokerUnavailable: naming the address.
    """
    try:
        await client.start()
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(
            f"no Kafka broker answered at {kafka.bootstrap_servers} ({type(error).__name__}); "
            "see kafka.bootstrap_servers and kafka.security_protocol"
        ) from error


def rebalance_timeout_seconds(delivery: DeliverySettings) -> float:
    """Time that a group waits for a worker to let go of its partitions: it drains, then commits.

    With less the group goes on while the worker still works, all of that is done twice, and with slow checks workers
    swap partitions for ever.
    """
    return delivery.drain_seconds + REQUEST_TIMEOUT_SECONDS + _LETTING_GO_SECONDS


def group_consumer(settings: StreamSettings, group: str, assignor: type) -> Consumer:
    """A consumer in `group` without auto-commit, not started. `assignor` is one of aiokafka's classes."""
    delivery = settings.delivery
    return Consumer(
        **connection(settings.kafka),
        group_id=group,
        group_instance_id=None if delivery.instance_id is None else f"{group}.{delivery.instance_id}",
        partition_assignment_strategy=[assignor],
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_interval_ms=int(_MAX_POLL_INTERVAL_SECONDS * 1000),
        fetch_max_wait_ms=int(FETCH_WAIT_SECONDS * 1000),
        request_timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000),
        session_timeout_ms=int(delivery.session_timeout_seconds * 1000),
        heartbeat_interval_ms=int(delivery.session_timeout_seconds * 1000 / _HEARTBEATS_PER_SESSION),
        rebalance_timeout_ms=int(rebalance_timeout_seconds(delivery) * 1000),
    )


@contextlib.asynccontextmanager
async def admin(kafka: KafkaSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client for topics and consumer groups."""
    client = AIOKafkaAdminClient(**connection(kafka), request_timeout_ms=int(_ADMIN_TIMEOUT_SECONDS * 1000))
    try:
        await start(client, kafka)
        yield client
    finally:
        await client.close()


@contextlib.asynccontextmanager
async def reader(kafka: KafkaSettings) -> AsyncIterator[Consumer]:
    """A consumer without a group, for reading a topic from its beginning."""
    client = Consumer(
        **connection(kafka), enable_auto_commit=False, auto_offset_reset="earliest", fetch_max_wait_ms=100
    )
    try:
        await start(client, kafka)
        yield client
    finally:
        await client.stop()
