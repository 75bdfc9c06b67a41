"""Long-tail probes: statements made from logic rules (LINK), and asked of a deployed model (LINT)."""

from typing import TYPE_CHECKING

from checkers.checker import Models
from checkers.longtail.checker import LongtailChecker
from checkers.longtail.settings import LongtailSettings
from checkers.plugin import CheckerPlugin, SourcePlugin

if TYPE_CHECKING:
    from checkers.longtail.asking.source import ProbeSource


def _source(settings: LongtailSettings, models: Models) -> "ProbeSource":
    # Commands that ask nothing are there at once: what asks takes long to import.
    from checkers.longtail.asking.source import ProbeSource

    return ProbeSource(settings, models)


PLUGIN = CheckerPlugin(
    checker=LongtailChecker,
    source=SourcePlugin(
        name="probe-scheduler",
        switch="longtail.probes.corpus",
        is_on=lambda settings: settings.probes.corpus is not None,
        build=_source,
    ),
)
