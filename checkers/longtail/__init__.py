"""Long-tail probes: statements made from logic rules (LINK), and asked of a deployed model (LINT)."""

from checkers.longtail.asking.source import NAME, ProbeSource
from checkers.longtail.checker import LongtailChecker
from checkers.plugin import CheckerPlugin, SourcePlugin

PLUGIN = CheckerPlugin(
    checker=LongtailChecker,
    commands={"probes": "checkers.longtail.commands:probes"},
    source=SourcePlugin(
        name=NAME,
        switch="longtail.probes.corpus",
        is_on=lambda settings: settings.probes.corpus is not None,
        build=ProbeSource,
    ),
)
