"""Settings of the trust monitor: what is watched and how strictly, and where alerts go."""

import re
from fnmatch import fnmatchcase
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, field_validator

_Pattern = Annotated[str, StringConstraints(min_length=1, max_length=256)]

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

OWN_LABELS = ("alertname", "checker", "source", "model")
"""They tell one subject's alert from another's."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class BaselineEntry(_Section):
    """What is expected of the subjects that the patterns match: shell patterns, `*` matches anything."""

    source: _Pattern = "*"
    """The application."""
    model: _Pattern = "*"
    """The subject."""
    checker: _Pattern = "*"
    """The checker's name."""
    rate: float | None = Field(default=None, gt=0, lt=1)
    """The success rate that is to be held; absent: learned from the subject's own verdicts."""
    edition: int = Field(default=0, ge=0)
    """Counted up, it makes these subjects begin anew: nothing learned, no evidence, no drop."""

    def matches(self, source: str, model: str, checker: str) -> bool:
        """Whether this is the entry of a subject, if no earlier one is."""
        return (
            fnmatchcase(source, self.source) and fnmatchcase(model, self.model) and fnmatchcase(checker, self.checker)
        )


class TrustSettings(_Section):
    """How the trust monitor watches."""

    enabled: bool = True
    """Whether a worker runs the monitor."""
    error_bound: float = Field(default=0.01, gt=0, le=0.2)
    """How likely at most a subject whose success rate never falls below its baseline has an alert, under one checker
    and however long it is watched."""
    smallest_drop: float = Field(default=0.05, ge=0.001, le=0.5)
    """The smallest drop of interest, in success rate: 0.05 is five points. Larger ones are found sooner."""
    baselines: tuple[BaselineEntry, ...] = ()
    """What is expected of whom; the first entry that matches holds. Subjects that none matches are learned."""
    learn_at_least: int = Field(default=50, ge=10, le=1_000_000)
    """Verdicts on a subject before a learned baseline is used."""
    rejected_in_alert: int = Field(default=10, ge=1, le=20)
    """How many of the rejected records that drove it an alert carries at most."""
    max_series: int = Field(default=10_000, ge=1, le=1_000_000)
    """Combinations of source, model and checker that are watched, divided evenly over the partitions; verdicts on
    others are counted in `assay_trust_unwatched_verdicts_total` and not watched."""
    forget_after_days: float = Field(default=30.0, gt=0, le=3650)
    """A combination without a verdict for so long is forgotten, and makes room for another."""
    remember: int = Field(default=16_384, ge=1, le=1_000_000)
    """Verdict ids remembered for each partition: a verdict that comes again within so many others counts once."""
    flush_seconds: float = Field(default=5.0, gt=0, le=60)
    """How often the state is written down, besides at every alert; what was counted since is counted anew after a
    crash, in the same way. A series with a verdict since then writes some 4 kB each time."""


class AlertmanagerSettings(_Section):
    """Where Alertmanager is, and what it is told."""

    urls: tuple[str, ...] = ()
    """`http://host:9093` of each Alertmanager, every one of a cluster; none where this is empty."""
    authorization: SecretStr | None = None
    """The Authorization header, such as `Bearer …` or `Basic …`; never shown."""
    resend_seconds: float = Field(default=60.0, ge=0.1, le=3600)
    """How often an alert that goes on is told again. Each telling holds for four times as long, so that none of them
    is needed, and an alert ends by itself when nobody tells it any more."""
    timeout_seconds: float = Field(default=10.0, gt=0, le=300)
    """After this long an Alertmanager that does not answer is tried again."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Further labels for its routing, such as a team; also `severity` instead of `page`."""
    reasons: bool = True
    """Whether alerts carry the reasons of rejected records, which may quote responses, or their ids only."""

    @field_validator("urls")
    @classmethod
    def _plain_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"{url!r} is not `http://host:port` or `https://host:port`")
            if parts.username is not None or parts.query or parts.fragment:
                raise ValueError(
                    f"the URL of {parts.hostname} has credentials, a query or a fragment; "
                    "credentials go into `authorization`, the others nowhere"
                )
        return urls

    @field_validator("labels")
    @classmethod
    def _label_names(cls, labels: dict[str, str]) -> dict[str, str]:
        for name, value in labels.items():
            if not _LABEL.fullmatch(name) or name in OWN_LABELS:
                raise ValueError(
                    f"{name!r} cannot be a label: letters, digits and `_`, no digit first, and none of "
                    f"{', '.join(OWN_LABELS)}"
                )
            if not value:
                raise ValueError(f"label {name!r} is empty")
        return labels
