"""Which agents there are beside the checkers, and which of them a worker runs."""

from pathlib import Path

import pytest

from assay.cli.common import CannotRun
from assay.cli.worker import select_agents
from assay.config import Misconfigured, load_configuration

pytestmark = pytest.mark.usefixtures("unconfigured")

WEBHOOK = """
[webhooks.tuning]
url = "https://improver.example/hook"
secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
"""


def configured(text: str = ""):
    Path("assay.toml").write_text(text, encoding="utf-8")
    return load_configuration()


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("", []),
        ("[improver]\nenabled = true\n" + WEBHOOK, ["improver", "webhook-tuning"]),
        ("[store]\nurl = 'sqlite:///v.db'", ["archivist"]),
        ("[records]\nversion_metadata = ['release']", ["labels"]),
        ("[otlp]\nendpoint = 'http://127.0.0.1:4318'", ["otlp-exporter"]),
        ("[otlp]\ntopics = {spans = 'otlp_spans', logs = 'otlp_logs'}", ["otlp-spans", "otlp-logs"]),
    ],
)
def test_agents_run_where_they_are_configured_and_the_trust_monitor_without_a_word(text, beside):
    assert select_agents(configured(text)) == ["trust-monitor", *beside]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("improver", "improver.enabled = true"),
        ("archivist", "store.url = 'sqlite:///verdicts.db' switches it on"),
        ("otlp-exporter", "otlp-exporter is switched off; otlp.endpoint = 'http"),
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
        ("[budgets.consistecy]\ncalls = 3", "budgets.consistecy: nothing has this name; allowed are consistency"),
        ("[budgets.improver]\n", "limits nothing; give calls or cost"),
        ("[store]\nurl = 'verdicts.db'", "store.url (in assay.toml) = 'verdicts.db': allowed are `sqlite:///FILE`"),
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
    assert configured(budget + "[judge]\nprices.prompt = 2.0").warnings == ()
