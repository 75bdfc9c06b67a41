"""The installed checkers: ours and those of other packages, found by their entry points."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distribution, entry_points
from typing import Annotated, TypeAlias

from pydantic import StringConstraints

from checkers.checker import Checker
from checkers.plugin import ENTRY_POINT_GROUP, CheckerPlugin
from schemas import nearest

# It is a section of the configuration, a part of environment variables, a consumer group and a metrics' label.
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CheckerName: TypeAlias = Annotated[str, StringConstraints(pattern=f"^{_NAME.pattern}$")]


class UnknownChecker(ValueError):
    """There is no installed checker with this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledCheckers:
    """The checkers behind the entry points."""

    plugins: Mapping[str, CheckerPlugin]
    """By name, in alphabetical order."""
    broken: Mapping[str, str]
    """Faults of entry points that do not lead to a checker, by their name."""

    @property
    def improver(self) -> CheckerPlugin | None:
        """The plugin that brings the improver."""
        return next((plugin for plugin in self.plugins.values() if plugin.improver is not None), None)

    def select(self, names: Collection[str]) -> list[CheckerPlugin]:
        """The plugins with these names, in their order; all if there are no names.

        Raises:
            UnknownChecker: names the checker and those that are installed.
        """
        return [self._named(name) for name in dict.fromkeys(names or self.plugins)]

    def _named(self, name: str) -> CheckerPlugin:
        if name in self.plugins:
            return self.plugins[name]
        if name in self.broken:
            raise UnknownChecker(f"the checker {name!r} cannot be used: {self.broken[name]}")
        near = nearest(name, self.plugins)
        meant = f" (did you mean {near}?)" if near else ""
        installed = ", ".join(self.plugins) or "none"
        raise UnknownChecker(f"there is no checker {name!r}{meant}; installed are: {installed}")


def installed_checkers(*, reserved: Collection[str]) -> InstalledCheckers:
    """Load every entry point of the group; one that fails does not affect the others.

    No checker may have one of the `reserved` names, those of the configuration's other sections.
    """
    plugins: dict[str, CheckerPlugin] = {}
    broken: dict[str, str] = {}
    for entry_point in _unique(entry_points(group=ENTRY_POINT_GROUP)):
        try:
            plugin = _load(entry_point)
            if plugin.name in reserved:
                raise TypeError(f"its name {plugin.name!r} is a section of the configuration already")
            if plugin.name in plugins:
                raise TypeError(f"another installed checker has the name {plugin.name!r}")
            if plugin.improver is not None and any(other.improver is not None for other in plugins.values()):
                raise TypeError("it brings an improver, and another installed checker does so already")
        except Exception as error:  # noqa: BLE001 - a third party's module may raise anything at all
            broken[entry_point.name] = f"entry point {_described(entry_point)}: {type(error).__name__}: {error}"
        else:
            plugins[plugin.name] = plugin
    return InstalledCheckers(plugins=dict(sorted(plugins.items())), broken=broken)


def own_checkers() -> list[CheckerPlugin]:
    """The checkers that come with assay, whatever else is installed."""
    own = distribution("assay").entry_points.select(group=ENTRY_POINT_GROUP)
    return sorted((_load(entry_point) for entry_point in own), key=lambda plugin: plugin.name)


def _unique(found: Iterable[EntryPoint]) -> list[EntryPoint]:
    # A package that is twice on the path (a checkout and its installed copy) names the same checker twice.
    return sorted({(point.name, point.value): point for point in found}.values(), key=lambda point: point.name)


def _load(entry_point: EntryPoint) -> CheckerPlugin:
    found = entry_point.load()
    plugin = CheckerPlugin(checker=found) if isinstance(found, type) and issubclass(found, Checker) else found
    if not isinstance(plugin, CheckerPlugin):
        raise TypeError(f"expected a Checker class or a CheckerPlugin, got {type(plugin).__name__}")
    if not _NAME.fullmatch(plugin.name):
        raise TypeError(f"its name {plugin.name!r} should be of lower-case letters, digits and single underscores")
    return plugin


def _described(entry_point: EntryPoint) -> str:
    package = f" of {entry_point.dist.name}" if entry_point.dist else ""
    return f"{entry_point.name} = {entry_point.value!r}{package}"
