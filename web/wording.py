"""Words of the page that several templates share."""

from datetime import datetime, timedelta

NAMED = ("source", "model", "checker")
"""Names of what lists are narrowed down by."""

OUTCOMES = {
    "accept": ("✓", "accepted"),
    "reject": ("✗", "rejected"),
    "abstain": ("○", "undecided"),
}
"""Sign and word of each outcome."""

ALERTS = {
    "trust_drop": ("reject", "▼", "dropped"),
    "trust_recovery": ("accept", "▲", "recovered"),
    "version_worse": ("reject", "▼", "version worse"),
    "series_anew": ("abstain", "◆", "reset"),
    "true_rate": ("reject", "◆", "true rate"),
}
"""Look, sign and word of each kind of alert."""

REASON = 160
"""Characters of a reason in a list."""

FINDINGS = {
    "fine": ("✓", "consistent"),
    "fault": ("✗", "not consistent"),
    "open": ("○", "left open"),
}
"""Sign and word of each look of a sentence."""


_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def clock(moment: datetime) -> str:
    """Date and time, UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def length_of(seconds: int) -> str:
    """A length of time in its largest whole unit."""
    unit, length = next(each for each in _UNITS if seconds % each[1] == 0)
    number = seconds // length
    return f"{number} {unit}" + "s" * (number != 1)


def ago(time: timedelta) -> str:
    """A time that has passed, roughly."""
    seconds = int(time.total_seconds())
    for unit, length in _UNITS[:-1]:
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s ago"
    return f"{length_of(max(seconds, 0))} ago" if seconds else "now"


def percent(share: float) -> str:
    """A share with one digit behind the point; only all of it is 100%."""
    shown = f"{100 * share:.1f}%"
    return "99.9%" if shown == "100.0%" and share < 1 else shown.replace(".0%", "%")


def points(change: float) -> str:
    """A difference of two rates, in percentage points with its sign."""
    return f"{100 * change:+.1f}".replace("-", "−")
