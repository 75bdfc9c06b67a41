"""Settings refuse what cannot work, and say what can; OpenTelemetry's own variables among them."""

import pytest
from pydantic import ValidationError

from streams.connection import connection
from streams.otlp.settings import OtlpSettings
from streams.settings import KafkaSettings, TopicSettings

SASL = {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_username": "u", "sasl_password": "secret"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bootstrap_servers": "kafka"}, "host:port"),
        ({"security_protocol": "TLS"}, "'SASL_SSL'"),
        ({"security_protocol": "SASL_SSL"}, "needs sasl_mechanism, sasl_password, sasl_username as well"),
        ({"security_protocol": "SSL", "ssl_certfile": "c.pem"}, "go together"),
        ({"security_protocol": "SSL", "ssl_key_password": "p"}, "of no use without ssl_keyfile"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, "needs sasl_token_command as well"),
        ({**SASL, "sasl_mechanism": "OAUTHBEARER", "sasl_token_command": ["t"]}, "sasl_password, sasl_username given"),
        ({**SASL, "sasl_token_command": ["t"]}, "sasl_token_command given with .*sasl_mechanism PLAIN"),
        ({**SASL, "sasl_extensions": {"not a key": "v"}}, "sasl_extensions"),
        ({"properties": {"group.id": "g"}}, "'group.id' cannot be set here; allowed are client.id, connections.max"),
        ({"properties": {"isolation.level": "dirty"}}, "'isolation.level' is 'dirty': .*'read_committed' or"),
    ],
)
def test_kafka_settings_say_what_is_allowed(given, said):
    with pytest.raises(ValidationError, match=said):
        KafkaSettings.model_validate(given)


@pytest.mark.parametrize(
    "given", [{"client.id": "a", "fetch.min.bytes": 9}, {"client_id": "a", "fetch_min_bytes": "9"}]
)
def test_client_properties_have_kafkas_names_or_aiokafkas(given):
    kafka = KafkaSettings(properties=given | {"compression.type": "zstd"})
    consumer = {"isolation_level": "read_committed", "client_id": "a", "fetch_min_bytes": 9}
    assert kafka.properties_of("consumer") == consumer
    assert kafka.properties_of("producer") == {"client_id": "a", "compression_type": "zstd"}
    assert consumer.items() <= connection(kafka, "consumer").items()


@pytest.mark.parametrize(("given", "in_sync"), [({}, 1), ({"replication": 3}, 2)])
def test_a_message_counts_as_written_once_all_replicas_but_one_have_it(given, in_sync):
    assert TopicSettings.model_validate(given).in_sync == in_sync


PREFIX = "OTEL_EXPORTER_OTLP_"


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({"ENDPOINT": "http://collector:4318/"}, "http://collector:4318/v1/logs"),
        ({"ENDPOINT": "http://collector:4318", "LOGS_ENDPOINT": "https://logs.example/in"}, "https://logs.example/in"),
    ],
)
def test_the_endpoint_may_be_that_of_the_environment(monkeypatch, variables: dict[str, str], url: str):
    for name, value in variables.items():
        monkeypatch.setenv(PREFIX + name, value)
    assert OtlpSettings(endpoint="env").logs_url == url
    # Nothing is sent because a variable is there.
    assert OtlpSettings().logs_url is None
    assert OtlpSettings(endpoint="http://own:4318").logs_url == "http://own:4318/v1/logs"


def test_headers_are_those_of_the_environment_decoded(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", "http://collector:4318")
    monkeypatch.setenv(f"{PREFIX}HEADERS", "Authorization=Bearer%20sesame, x-scope = a=b")
    assert OtlpSettings(endpoint="env").request_headers == {"authorization": "Bearer sesame", "x-scope": "a=b"}
    assert OtlpSettings(endpoint="http://own:4318").request_headers == {}
    monkeypatch.setenv(f"{PREFIX}LOGS_HEADERS", "x-only=1")
    assert OtlpSettings(endpoint="env").request_headers == {"x-only": "1"}


def test_an_environment_that_cannot_be_followed_is_refused(monkeypatch):
    with pytest.raises(ValidationError, match="endpoint is 'env', and OTEL_EXPORTER_OTLP_ENDPOINT is not set"):
        OtlpSettings(endpoint="env")
    monkeypatch.setenv(f"{PREFIX}ENDPOINT", "http://collector:4317")
    monkeypatch.setenv(f"{PREFIX}PROTOCOL", "grpc")
    with pytest.raises(ValidationError, match="PROTOCOL is 'grpc'; only http/protobuf is spoken"):
        OtlpSettings(endpoint="env")
