"""Long-tail probes: statements made from logic rules (LINK), and asked of a deployed model (LINT)."""

from typing import TYPE_CHECKING

from checkers.longtail.checker import LongtailChecker
from checkers.longtail.questions import form_cases
from checkers.longtail.source import ProbeSource
from checkers.plugin import CheckerPlugin, SubjectLabels, VerdictCount

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def _count(registry: "CollectorRegistry", labels_of: SubjectLabels) -> VerdictCount:
    # Commands that serve no metrics are there at once.
    from checkers.longtail.probe_metrics import ProbeMetrics

    return ProbeMetrics(registry, labels_of).verdict


PLUGIN = CheckerPlugin(
    checker=LongtailChecker,
    form_cases=form_cases,
    count=_count,
    source=ProbeSource,
    source_name=ProbeSource.name,
    source_switch="probes.corpus",
)
