"""Why no connection to a Kafka broker is made, and which setting to look at: clients only log it."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka.conn import AIOKafkaConnection, create_conn
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.protocol.metadata import MetadataRequest

from streams.settings import KafkaSettings
from streams.token_command import TokenCommandFailed

_SECONDS = 10.0
"""A connection, a login and an answer take well below a second."""

_OF_ANOTHER_NAME = (62, 64)
"""OpenSSL's codes for a certificate of another host or address."""


async def why_unreachable(kafka: KafkaSettings, arguments: dict[str, Any]) -> str | None:
    """A sentence that names the address and the setting; None if all that is asked answer by now.

    Asks the brokers in `kafka.bootstrap_servers`, and those that the first of them to answer names.

    Args:
        kafka: what is configured.
        arguments: those of a connection made of it.
    """
    fault = None
    for server in kafka.servers:
        host, _, port = server.rpartition(":")
        try:
            async with _connection_to(host.strip("[]"), int(port), arguments) as connection:
                brokers = (await connection.send(MetadataRequest([]))).brokers
        except (KafkaError, OSError, EOFError) as error:
            fault = fault or _sentence(error, server, kafka)
            continue
        for _, host, port, *_ in brokers:
            try:
                async with _connection_to(host, port, arguments):
                    pass
            except (KafkaError, OSError, EOFError) as error:
                advertised = f"{host}:{port}"
                return f"{server} answers, and names {advertised} (its advertised.listeners): " + _sentence(
                    error, advertised, kafka
                )
        return None
    return fault


@asynccontextmanager
async def _connection_to(host: str, port: int, arguments: dict[str, Any]) -> AsyncIterator[AIOKafkaConnection]:
    try:
        async with asyncio.timeout(_SECONDS):
            connection = await create_conn(host, port, **arguments)
            try:
                yield connection
            finally:
                connection.close()
    except KafkaError as error:
        if isinstance(error.__cause__, OSError | EOFError):
            raise error.__cause__ from None
        raise


def _sentence(error: Exception, server: str, kafka: KafkaSettings) -> str:  # noqa: PLR0911 - a sentence a fault
    match error:
        case TokenCommandFailed():
            return str(error)
        case SaslAuthenticationFailed():
            settings = (
                "kafka.sasl_token_command"
                if kafka.sasl_mechanism == "OAUTHBEARER"
                else "kafka.sasl_username and kafka.sasl_password"
            )
            return f"the Kafka broker at {server} refused the login ({error.args[0]}); see {settings}"
        case UnsupportedSaslMechanismError():
            return f"the Kafka broker at {server} does not take {kafka.sasl_mechanism}; see kafka.sasl_mechanism"
        case IllegalSaslStateError():
            return f"the Kafka broker at {server} takes no login; see kafka.security_protocol"
        case ssl.SSLError() if certificate := _certificate_fault(error, server):
            return certificate
        case ssl.SSLError() | ConnectionResetError() | EOFError():
            return (
                f"the Kafka broker at {server} does not speak {kafka.security_protocol}: it closed the connection; "
                "see kafka.security_protocol"
            )
        case TimeoutError():
            why = "no answer in time"
        case ConnectionError(errno=int(number)):
            why = os.strerror(number)
        case _:
            why = getattr(error, "strerror", None) or str(error)
    return f"no Kafka broker answered at {server} ({why}); see kafka.bootstrap_servers and kafka.security_protocol"


def _certificate_fault(error: ssl.SSLError, server: str) -> str | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _OF_ANOTHER_NAME:
            return (
                f"the certificate of the Kafka broker at {server} is not of that host; "
                "name the broker in kafka.bootstrap_servers as its certificate does"
            )
        return (
            f"the certificate of the Kafka broker at {server} is not trusted ({error.verify_message}); "
            "see kafka.ssl_cafile"
        )
    _, alert, said = (error.reason or "").partition("_ALERT_")
    if alert:
        return (
            f"the Kafka broker at {server} refused the client's certificate, or that there is none "
            f"({said.replace('_', ' ').lower()}); see kafka.ssl_certfile"
        )
    return None
