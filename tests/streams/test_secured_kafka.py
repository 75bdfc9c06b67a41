"""SASL and TLS on a real Apache Kafka: every client logs in the one way, and every refusal names its setting."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import orjson
import pytest
from structlog.testing import capture_logs

from schemas import Verdict
from streams import connection
from streams.lookup import RecordLookup
from streams.messages import Outgoing, Publisher
from streams.settings import StreamSettings
from streams.topic_reader import read_topic
from streams.topics import create_topics
from tests.assay.running import assay
from tests.streams.secured_kafka import MECHANISMS, PASSWORD, SecuredKafka
from tests.support.checkers import Accept
from tests.support.traffic import record
from tests.support.waiting import until
from tests.support.workers import worker_here

SCRAM = "SCRAM-SHA-512"


@pytest.fixture(scope="module")
def secured(tmp_path_factory) -> Iterator[SecuredKafka]:
    broker = SecuredKafka(tmp_path_factory.mktemp("kafka"))
    broker.start()
    yield broker
    broker.kill()


async def test_each_way_to_log_in_brings_a_record_to_its_verdict_and_back(secured: SecuredKafka):
    ways = [secured.login(mechanism) for mechanism in MECHANISMS]
    plain, good = secured.client_certificate("worker"), secured.client_certificate("encrypted")
    key = {"ssl_keyfile": str(secured.encrypted(good["ssl_keyfile"])), "ssl_key_password": PASSWORD}
    ways += [secured.tls(**plain), secured.tls(**good) | key]

    async def go(number: int, kafka: dict[str, object]) -> None:
        raw = {"kafka": kafka, "topics": {"prefix": f"way{number}", "partitions": 1}}
        settings = StreamSettings.model_validate(raw)
        await create_topics(settings)
        async with worker_here([Accept()], raw):
            await _publish(settings, range(1))
            (verdict,) = await _verdicts(settings, 1)
        async with RecordLookup(settings).running() as lookup:
            data, _ = await lookup.record(verdict.origin, verdict.source, verdict.record_id)
        assert data == record(0)

    await asyncio.gather(*(go(number, kafka) for number, kafka in enumerate(ways)))


def test_a_refusal_is_one_line_that_names_the_setting_and_no_secret(secured: SecuredKafka, tmp_path: Path):
    at, tls_at = secured.sasl_servers, secured.tls_servers
    other_ca = {"ssl_cafile": str(secured.folder / "other-ca.pem")}
    wrong = "wrong-horse-battery-staple"
    not_for_kafka = secured.token(audience="another")
    spoken = "Authentication failed during authentication due to invalid credentials with SASL mechanism"
    expired = secured.client_certificate("expired", expired=True)
    good = secured.client_certificate("good")
    says = ["sh", "-c", f"echo {PASSWORD}; echo no session: log in >&2; exit 7"]
    password, another = "see kafka.sasl_username and kafka.sasl_password", secured.sasl_by_another_name
    no_certificate = "refused the client's certificate, or that there is none"
    by_broker = [
        (
            secured.login("PLAIN", password=wrong),
            at,
            f"refused the login (Authentication failed: Invalid username or password); {password}",
        ),
        (secured.login(SCRAM, password=wrong), at, f"refused the login ({spoken} {SCRAM}); {password}"),
        (
            secured.login("OAUTHBEARER", token=not_for_kafka),
            at,
            'refused the login ({"status":"invalid_token"}); see kafka.sasl_token_command',
        ),
        (secured.tls(), tls_at, f"{no_certificate} (certificate required); see kafka.ssl_certfile"),
        (secured.tls(**expired), tls_at, f"{no_certificate} (certificate unknown); see kafka.ssl_certfile"),
        *(
            (kafka, server, f"does not speak {protocol}: it closed the connection; see kafka.security_protocol")
            for kafka, server, protocol in (
                ({"bootstrap_servers": tls_at}, tls_at, "PLAINTEXT"),
                (
                    secured.login("PLAIN") | {"bootstrap_servers": secured.bootstrap_servers},
                    secured.bootstrap_servers,
                    "SASL_SSL",
                ),
            )
        ),
    ]
    see = "see kafka.bootstrap_servers and kafka.security_protocol"
    untrusted = "shows a certificate that is not trusted"
    certificate = "see kafka.ssl_cafile and kafka.bootstrap_servers"
    misnamed = "Hostname mismatch, certificate is not valid for 'localhost'"
    elsewhere = "(its advertised.listeners): no Kafka broker answered at 127.0.0.1:1 (Connection refused)"
    refused = [
        *((kafka, f"the Kafka broker at {server} {said}") for kafka, server, said in by_broker),
        (
            secured.login("OAUTHBEARER") | {"sasl_token_command": says},
            "sh ended with status 7: no session: log in; see kafka.sasl_token_command",
        ),
        (
            secured.login("PLAIN") | {"bootstrap_servers": another},
            f"the Kafka broker at {another} {untrusted} ({misnamed}); {certificate}",
        ),
        (
            secured.login("PLAIN") | other_ca,
            f"the Kafka broker at {at} {untrusted} (unable to get local issuer certificate); {certificate}",
        ),
        (
            secured.tls(**good) | {"ssl_keyfile": str(tmp_path / "none.key")},
            "the file of kafka.ssl_certfile or kafka.ssl_keyfile cannot be read: No such file or directory",
        ),
        (
            secured.tls(**good) | {"ssl_keyfile": str(secured.encrypted(good["ssl_keyfile"]))},
            "the key of kafka.ssl_keyfile is encrypted; see kafka.ssl_key_password",
        ),
        (
            {"bootstrap_servers": secured.astray_servers},
            f"{secured.astray_servers} answers, and names 127.0.0.1:1 {elsewhere}; {see}",
        ),
    ]
    for kafka, said in refused:
        ran = assay("topics", "create", cwd=tmp_path, **_variables(kafka))
        assert (ran.returncode, ran.stdout, ran.stderr) == (3, "", f"Error: {said}\n")
        assert not any(secret in ran.stderr for secret in (wrong, PASSWORD, not_for_kafka))


async def test_tokens_that_end_and_a_command_that_fails_for_a_while_lose_nothing(
    secured: SecuredKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(connection, "_ASK_SECONDS", 0.5)
    monkeypatch.setattr(connection, "_TOKEN_PAUSE_SECONDS", 0.5)
    token, runs, issued = tmp_path / "token", tmp_path / "runs", set()
    command = ["sh", "-c", f"echo >> {runs}; cat {token}"]
    topics = {"topics": {"prefix": "tokens", "partitions": 1}}
    raw = topics | {"kafka": secured.login("OAUTHBEARER") | {"sasl_token_command": command}}
    others = StreamSettings.model_validate(topics | {"kafka": secured.login("PLAIN")})
    await create_topics(others)

    async def issue() -> None:
        while True:
            issued.add(fresh := secured.token(seconds=2))
            (tmp_path / "fresh").write_text(fresh)
            (tmp_path / "fresh").rename(token)
            await asyncio.sleep(0.2)

    issuing = asyncio.create_task(issue())
    await until(token.exists)
    with capture_logs() as logs:
        async with worker_here([Accept()], raw) as worker:
            for number in range(15):
                await _publish(others, range(number, number + 1))
                await asyncio.sleep(0.2)
            await worker.wait_for("assay_checker_records_total", 15, checker="accept", kind="generation")
            renewed = len(runs.read_text())
            issuing.cancel()
            token.unlink()
            await until(lambda: any("No such file" in (line.get("why") or "") for line in logs))
            failed = len(runs.read_text())
            await asyncio.sleep(1.5)
            # Clients ask ten times a second each.
            assert len(runs.read_text()) - failed <= 5
            issuing = asyncio.create_task(issue())
            await _publish(others, range(15, 30))
            assert len(await _verdicts(others, 30)) == 30
    issuing.cancel()
    assert 2 <= renewed <= 12
    why = next(line["why"] for line in logs if "No such file" in (line.get("why") or ""))
    assert re.fullmatch(r"sh ended with status 1: cat: .*: No such file .*; see kafka.sasl_token_command", why)
    assert "Traceback" not in caplog.text
    assert not any(one in f"{caplog.text}{logs}" for one in issued)


async def _publish(settings: StreamSettings, numbers: range) -> None:
    topic = settings.topics.outputs
    async with Publisher(settings).running() as publisher:
        await publisher.publish(*(Outgoing(topic, key=None, value=record(one), headers=[]) for one in numbers))


async def _verdicts(settings: StreamSettings, count: int) -> list[Verdict]:
    """The verdicts on so many different records."""
    found: dict[str | None, Verdict] = {}
    async with aclosing(read_topic(settings.kafka, settings.topics.accepted, follow=True)) as messages:
        async for message in messages:
            verdict = Verdict.model_validate_json(message.value)
            found[verdict.record_id] = verdict
            if len(found) == count:
                break
    return list(found.values())


def _variables(kafka: dict[str, object]) -> dict[str, str]:
    return {
        f"ASSAY_KAFKA__{key.upper()}": value if isinstance(value, str) else orjson.dumps(value).decode()
        for key, value in kafka.items()
    } | {"ASSAY_TOPICS__PREFIX": "refused"}
