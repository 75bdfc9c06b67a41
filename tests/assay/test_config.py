"""What is configured where, which wins, and what is said when it is wrong."""

from pathlib import Path

import pytest

from assay.cli.preparation import lines
from assay.config import Misconfigured, load_configuration

pytestmark = pytest.mark.usefixtures("unconfigured")


def write(text: str) -> Path:
    file = Path("assay.toml")
    file.write_text(text, encoding="utf-8")
    return file


def fault(file: Path | None = None) -> str:
    with pytest.raises(Misconfigured) as caught:
        load_configuration(file)
    return str(caught.value)


def test_without_file_and_variables_there_are_defaults():
    configuration = load_configuration()
    assert configuration.streams.kafka.bootstrap_servers == "127.0.0.1:9092"
    assert configuration.judge.backend == "local"
    assert "consistency" in configuration.checkers
    assert configuration.warnings == ()


def test_a_variable_wins_over_the_file_key_by_key(monkeypatch):
    write("[judge]\nbackend = 'openai'\nbase_url = 'http://one/v1'\nmodel = 'small'")
    monkeypatch.setenv("ASSAY_JUDGE__MODEL", "large")
    # An empty one is not set.
    monkeypatch.setenv("ASSAY_JUDGE__BASE_URL", "")
    judge = load_configuration().judge
    assert (judge.model, judge.base_url) == ("large", "http://one/v1")


@pytest.mark.parametrize(
    "value", ["http://a:9093,http://b:9093", " http://a:9093, http://b:9093,", '["http://a:9093", "http://b:9093"]']
)
def test_a_list_in_a_variable_has_commas_or_is_json(monkeypatch, value):
    monkeypatch.setenv("ASSAY_ALERTMANAGER__URLS", value)
    assert load_configuration().alertmanager.urls == ("http://a:9093", "http://b:9093")


def test_a_subject_of_the_file_gets_its_key_from_a_variable(monkeypatch):
    write("[subjects.'acme-chat-4.1']\nbase_url = 'http://one/v1'\nmodel = 'acme'")
    monkeypatch.setenv("ASSAY_SUBJECTS__ACME_CHAT_4_1__API_KEY", "sk-1")
    (name, subject), *others = load_configuration().subjects.items()
    assert (name, others) == ("acme-chat-4.1", [])
    assert subject.api_key is not None
    assert subject.api_key.get_secret_value() == "sk-1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[judge]\nconcurency = 3",
            "judge.concurency (in assay.toml): there is no such key; did you mean judge.concurrency?",
        ),
        ("[kafak]\nx = 1", "kafak (in assay.toml): there is no such section; did you mean kafka?"),
        ("[http]\nport = 99999", "http.port (in assay.toml) = 99999: should be less than or equal to 65535"),
        (
            "[judge]\nbackend = 'cascade'\nbase_url = 'http://one/v1'\nmodel = 'm'",
            "judge.backend = 'cascade': the local judge decides by thresholds, and none are set",
        ),
        (
            "[judge]\nbackend = 'openai'",
            "judge (in assay.toml): backend is 'openai', but base_url and model are not set",
        ),
        ("[subjects.'a.b']\nmodle = 'x'", 'subjects."a.b".modle (in assay.toml): there is no such key'),
        ("[alertmanager]\nurls = 'http://a'", "alertmanager.urls (in assay.toml) = 'http://a': should be a list"),
        (
            "[judge]\nprices.promt = 1.0",
            "judge.prices.promt (in assay.toml) = 'promt': should be 'prompt', 'cached' or 'completion'",
        ),
        (
            "[improver.writer]\nbackend = 'service'\nbase_url = 'http://one/v1'",
            "improver.writer (in assay.toml): a service reads no prompts",
        ),
        ("[judge", "assay.toml cannot be read as TOML: "),
    ],
)
def test_what_is_wrong_is_named_as_it_was_written_with_what_is_allowed(text, said):
    write(text)
    assert said in fault()


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("ASSAY_JUDGE__CONCURRENCY", "many", "ASSAY_JUDGE__CONCURRENCY = 'many': should be a valid integer"),
        (
            "ASSAY_JUDGE__CONCURENCY",
            "1",
            "ASSAY_JUDGE__CONCURENCY: there is no such key; did you mean ASSAY_JUDGE__CONCURRENCY?",
        ),
        (
            "ASSAY_ALERTMANAGER__URLS",
            '["http://a:9093"',
            """ASSAY_ALERTMANAGER__URLS = '["http://a:9093"': should be a list: a,b or, as JSON, ["a", "b"]""",
        ),
        (
            "ASSAY_JUDGE__TEMPERATURE",
            "null",
            "ASSAY_JUDGE__TEMPERATURE = 'null': should be a number from 0 up to 2, or 'omit'",
        ),
    ],
)
def test_a_wrong_variable_is_named(monkeypatch, variable, value, said):
    monkeypatch.setenv(variable, value)
    assert said in fault()


def test_a_variable_with_one_underscore_too_few_is_not_passed_over_in_silence(monkeypatch):
    monkeypatch.setenv("ASSAY_KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    # Kubernetes sets it for a service.
    monkeypatch.setenv("ASSAY_HTTP_PORT", "tcp://10.0.0.1:9464")
    (warning,) = load_configuration().warnings
    assert "ASSAY_KAFKA_BOOTSTRAP_SERVERS has no effect; ASSAY_KAFKA__BOOTSTRAP_SERVERS is meant" in warning


def test_no_secret_is_shown(monkeypatch):
    write(
        "[judge]\nbackend = 'openai'\nbase_url = 'http://one/v1'\nmodel = 'm'\napi_key = 'sk-judge'\n"
        "[kafka]\nsecurity_protocol = 'SASL_SSL'\nsasl_mechanism = 'PLAIN'\nsasl_username = 'me'\n"
        "[alertmanager]\nauthorization = 'Bearer sk-alerts'\n"
        "[webhooks.w]\nurl = 'https://x.example'\nsecret = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz'"
    )
    monkeypatch.setenv("ASSAY_KAFKA__SASL_PASSWORD", "hunter2")
    monkeypatch.setenv("ASSAY_SUBJECTS__S__BASE_URL", "http://one/v1?api-version=2&subscription-key=sk-query")
    monkeypatch.setenv("ASSAY_SUBJECTS__S__MODEL", "m")
    monkeypatch.setenv("ASSAY_SUBJECTS__S__API_KEY", "sk-subject")
    monkeypatch.setenv("ASSAY_SUBJECTS__S__EXTRA_HEADERS", '{"X-Team": "sk-header"}')
    text = "\n".join(lines(load_configuration()))
    secrets = ("sk-judge", "hunter2", "sk-subject", "sk-header", "sk-query", "sk-alerts", "whsec")
    assert not [secret for secret in secrets if secret in text]
    assert '"http://one/v1?api-version=2&subscription-key=**********"' in text
    assert text.count('"**********"') == 6


@pytest.mark.parametrize("key", ["['sk-1']", "12345678", "1234.5678", "true", "1234-05-06"])
def test_no_secret_is_shown_when_it_is_wrong(key):
    write(f"[judge]\napi_key = {key}\nbase_url = 'http://user:sk-2@one/v1?key=sk-4'\n[kafka]\nsasl_password = 'sk-3'")
    text = fault()
    assert "judge.api_key (in assay.toml) = '**********': should be a valid string" in text
    assert not [secret for secret in (key, "sk-", "True", "1234") if secret in text]


def test_the_effective_configuration_says_where_each_value_came_from_and_can_be_read_again(monkeypatch):
    write("[judge.local]\njudge = 'factcg'\n[subjects.'acme-4.1']\nbase_url = 'http://x/v1'\nmodel = 'é \"quoted\"'")
    monkeypatch.setenv("ASSAY_HTTP__PORT", "1234")
    before = load_configuration()
    text = "\n".join(lines(before))
    by_key = {line.partition("  #")[0].rstrip(): line for line in text.splitlines()}
    assert by_key['judge = "factcg"'].endswith("# assay.toml")
    assert by_key["port = 1234"].endswith("# ASSAY_HTTP__PORT")
    assert by_key['host = "127.0.0.1"'].endswith("# default")
    monkeypatch.delenv("ASSAY_HTTP__PORT")
    after = load_configuration(write(text))
    assert (after.streams, after.judge, after.subjects) == (before.streams, before.judge, before.subjects)
