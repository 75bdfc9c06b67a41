"""Long-tail probes: statements made from logic rules (LINK), and asked of a deployed model (LINT)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from checkers.checker import Models
from checkers.form_test import FormCase
from checkers.longtail.checker import LongtailChecker, LongtailSettings
from checkers.plugin import CheckerPlugin, SourcePlugin, SubjectLabels, VerdictCount

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from checkers.longtail.source import ProbeSource


def _source(settings: LongtailSettings, models: Models) -> "ProbeSource":
    # Commands that ask nothing are there at once: what asks takes long to import.
    from checkers.longtail.source import ProbeSource

    return ProbeSource(settings, models)


def _count(registry: "CollectorRegistry", labels_of: SubjectLabels) -> VerdictCount:
    from checkers.longtail.probe_metrics import ProbeMetrics

    return ProbeMetrics(registry, labels_of).verdict


def _form_cases(method: str) -> Iterable[FormCase]:
    from checkers.longtail.form_cases import form_cases

    return form_cases(method)


PLUGIN = CheckerPlugin(
    checker=LongtailChecker,
    form_cases=_form_cases,
    count=_count,
    source=SourcePlugin(
        name="probe-scheduler",
        switch="longtail.probes.corpus",
        is_on=lambda settings: settings.probes.corpus is not None,
        build=_source,
    ),
)
