"""Settings of labels: how many verdicts people are asked about, by which rubric, and from where on it alarms."""

from pydantic import Field

from schemas.base import Name
from streams.settings import SettingsSection


class LabelSettings(SettingsSection):
    """People's labels of a few verdicts, which correct the success rate."""

    per_hour: float = Field(default=0.0, ge=0, le=10_000)
    """Verdicts of each series (source, model, checker and its configuration) that people are asked about an hour, on
    the average; more in its first hour. 0 switches labels off."""
    all_rejects: bool = False
    """Ask about every reject, beside the budget, which then is for accepts alone."""
    rubric_version: Name = "1"
    """The rules by which people label. Change it with them: labels by other rules are not mixed, the rate begins
    anew."""
    alarm_below: float | None = Field(default=None, gt=0, lt=1)
    """The true success rate below which an alert is raised. If not set, the lower end of its interval after 100
    labels."""
