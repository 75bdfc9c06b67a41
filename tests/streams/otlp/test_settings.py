"""The exporter's address and headers: from our configuration, or by OpenTelemetry's own variables."""

import pytest
from pydantic import ValidationError

from streams.otlp.settings import OtlpSettings

PREFIX = "OTEL_EXPORTER_OTLP_"


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({"ENDPOINT": "http://collector:4318/"}, "http://collector:4318/v1/logs"),
        ({"ENDPOINT": "http://collector:4318", "LOGS_ENDPOINT": "https://logs.example/in"}, "https://logs.example/in"),
        ({"LOGS_ENDPOINT": "https://logs.example/in", "LOGS_PROTOCOL": "http/protobuf"}, "https://logs.example/in"),
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
