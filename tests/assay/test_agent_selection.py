"""Which agents there are beside the checkers, and which of them a worker runs."""

from pathlib import Path

import pytest

from assay.cli.common import CannotRun
from assay.cli.worker import configured_agents, select_agents
from assay.config import Misconfigured, load_configuration
from tests.assay.running import assay

pytestmark = pytest.mark.usefixtures("unconfigured")

WEBHOOK = """
[webhooks.tuning]
url = "https://improver.example/hook"
secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
"""


def configured(text: str = ""):
    Path("assay.toml").write_text(text, encoding="utf-8")
    return load_configuration()


def test_the_trust_monitor_runs_without_a_word():
    assert configured_agents(configured()) == ["trust-monitor"]


def test_the_improver_and_webhooks_run_where_they_are_configured():
    found = configured_agents(configured("[improver]\nenabled = true\n" + WEBHOOK))
    assert found == ["trust-monitor", "improver", "webhook-tuning"]


def test_the_archivist_runs_where_there_is_a_store():
    assert configured_agents(configured("[store]\nurl = 'sqlite:///v.db'")) == ["trust-monitor", "archivist"]
    versions = configured("[records]\nversion_metadata = ['release']")
    assert configured_agents(versions) == ["trust-monitor", "labels"]


def test_opentelemetrys_agents_run_where_they_are_configured():
    out = "[otlp]\nendpoint = 'http://127.0.0.1:4318'\n"
    assert configured_agents(configured(out)) == ["trust-monitor", "otlp-exporter"]
    topics = "[otlp]\ntopics = {spans = 'otlp_spans', logs = 'otlp_logs'}\n"
    assert configured_agents(configured(topics)) == ["trust-monitor", "otlp-spans", "otlp-logs"]
    with pytest.raises(CannotRun, match=r"otlp-exporter is switched off; otlp.endpoint = 'http.+' switches it on"):
        select_agents(configured(topics), ["otlp-exporter"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("improver", "improver.enabled = true"),
        ("archivist", "store.url = 'sqlite:///verdicts.db' switches it on"),
        ("webhook-other", "allowed are trust-monitor, webhook-tuning, none"),
        ("consistency", "checkers are named with --checkers"),
    ],
)
def test_an_agent_that_is_not_there_is_named_with_what_is(name, said):
    with pytest.raises(CannotRun, match=name) as caught:
        select_agents(configured(WEBHOOK), [name])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[routing.rules]]\ncheckers = ['x']", "routing: there is no checker 'x'"),
        ("[[routing.rules]]\nshar = 0.5", "routing.rules.0.shar (in assay.toml): there is no such key; did you mean"),
        ("[budgets.consistecy]\ncalls = 3", "budgets.consistecy: nothing has this name; allowed are consistency"),
        ("[budgets.improver]\n", "limits nothing; give calls or cost"),
        ("[store]\nurl = 'verdicts.db'", "store.url (in assay.toml) = 'verdicts.db': allowed are `sqlite:///FILE`"),
        ("[store]\nredact = ['(a']", "'(a' is no RE2 pattern: missing ): (a"),
        ("[webhooks.tuning]\nurl = 'https://x.example'\nsecret = 'geheim'", "webhooks.tuning.secret"),
    ],
)
def test_what_is_wrong_about_them_is_named_with_what_is_allowed(text, said):
    with pytest.raises(Misconfigured) as caught:
        configured(text)
    assert said in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_a_budget_of_money_without_prices_is_warned_of():
    budget = "[budgets.consistency]\ncost = 5.0\n"
    (warning,) = configured(budget).warnings
    assert "budgets.consistency.cost limits nothing" in warning
    assert configured(budget + "[judge]\nprompt_price = 2.0").warnings == ()


def test_a_worker_that_would_do_nothing_is_refused(unconfigured):
    ran = assay("worker", "--checkers", "none", "--agents", "none", cwd=unconfigured)
    assert ran.returncode == 2
    assert "neither a checker nor an agent" in ran.stderr


def test_an_improver_without_a_writer_is_refused(unconfigured):
    (unconfigured / "assay.toml").write_text("[improver]\nenabled = true")
    ran = assay("worker", cwd=unconfigured)
    assert ran.returncode == 2
    assert "improver.writer.base_url" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_secrets_of_webhooks_are_not_shown(unconfigured):
    (unconfigured / "assay.toml").write_text(WEBHOOK + "[alertmanager]\nauthorization = 'Bearer geheim'")
    ran = assay("config", "check", cwd=unconfigured)
    assert ran.returncode == 0
    assert "MDEy" not in ran.stdout
    assert "geheim" not in ran.stdout
    assert 'url = "https://improver.example/hook"' in ran.stdout
