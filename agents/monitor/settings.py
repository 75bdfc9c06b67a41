"""Settings of the monitors: what is watched and how strictly, whom is asked for labels, and where alerts go."""

from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from agents.webhook_settings import plain_url
from schemas.base import Name
from streams.settings import SettingsSection

_Pattern = Annotated[str, StringConstraints(min_length=1, max_length=256)]


def _extended(url: str) -> str:
    if "?" in url:
        raise ValueError("has a query, behind which no path can stand")
    return url.rstrip("/")


_Url = Annotated[str, AfterValidator(plain_url)]
_Base = Annotated[_Url, AfterValidator(_extended)]


class BaselineEntry(SettingsSection):
    """The expected success rate of the series that the shell-style patterns match."""

    source: _Pattern = "*"
    """Pattern for the application (`source`)."""
    model: _Pattern = "*"
    """Pattern for the subject (`model`)."""
    checker: _Pattern = "*"
    """Pattern for the name of the checker."""
    rate: float | None = Field(default=None, gt=0, lt=1)
    """Expected success rate, averaged over the week; learned if not set."""
    tolerance: float = Field(default=0.005, ge=0, le=0.5)
    """How far the success rate may be below what is expected: 0.005 is half a point."""

    def matches(self, source: str, model: str, checker: str) -> bool:
        return all(map(fnmatchcase, (source, model, checker), (self.source, self.model, self.checker)))


class TrustSettings(SettingsSection):
    """The trust monitor: it watches a series of verdicts for each source, model and checker."""

    error_bound: float = Field(default=0.01, gt=0, le=0.2)
    """Upper bound of the probability that a series which never falls below its baseline ever causes an alert; on
    average over rates, if the baseline is learned."""
    baselines: tuple[BaselineEntry, ...] = ()
    """Expected success rates; the first entry that matches counts."""


class LabelSettings(SettingsSection):
    """People's labels of a few verdicts, which correct the success rate."""

    per_hour: float = Field(default=0.0, ge=0, le=10_000)
    """Verdicts of each series an hour that people are asked about, on average; more in the first. 0: none."""
    rubric_version: Name = "1"
    """Version of the rules by which people label. If it changes, the rate is reset."""


class AlertmanagerSettings(SettingsSection):
    """Alertmanager, to which alerts on trust are posted."""

    urls: tuple[_Base, ...] = ()
    """`http://host:9093` of each Alertmanager. If empty, alerts go to their topic only."""
    authorization: SecretStr | None = None
    """Value of the Authorization header; never shown."""
    runbook_url: _Url = "http://127.0.0.1:8080/runbook"
    """Where `docs/runbook.md` can be opened; alerts add their name, as in `#assaytrustdrop`. The default is the
    address of `deploy/alertmanager/print_alerts.py`."""
    page_url: _Base = "http://127.0.0.1:8090"
    """Where people open the page, for links from alerts and Grafana."""
    reasons: bool = True
    """Send reasons, which may quote responses; `false` sends only ids."""
