"""The installed checkers, ours and those of other packages, each with its explanations, improver and source."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, distribution, entry_points
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue, StringConstraints, field_validator

from checkers.checker import Checker, CheckerSettings, Models, ScoringSettings, Thresholds
from checkers.form_test import FormCase
from models.protocol import Model
from models.settings import SubjectSettings
from schemas import Envelope, Generation, Improvement, Verdict, nearest

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from models.meter import UsageListener

_ENTRY_POINT_GROUP = "assay.checkers"
"""Installed packages add a checker by an entry point of this group: a `Checker` class or a `CheckerPlugin`."""

# It is a section of the configuration, a part of environment variables, a consumer group and a metrics' label.
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CheckerName: TypeAlias = Annotated[str, StringConstraints(pattern=f"^{_NAME.pattern}$")]

SubjectLabels: TypeAlias = Callable[[str, str], tuple[str, str]]
"""From source and model to the two labels of their metrics: those beyond the maximum share one pair."""

VerdictCount: TypeAlias = Callable[[Verdict], None]
"""Takes every verdict of a checker that was delivered."""


class Improver(Protocol):
    """Makes something better of a rejected response."""

    def takes(self, verdict: Verdict) -> bool:
        """True if the improver can do something about this verdict."""

    def not_tried(self, verdict: Verdict, reason: str) -> Improvement:
        """The improvement that is reported if the record cannot be had; `reason` is a sentence."""

    async def improve(self, record: Generation, verdict: Verdict) -> Improvement:
        """The improvement, whatever became of the response; raises ModelUnavailable, for the verdict to be held."""


class ImproverSettings(BaseModel):
    """The improver: how rejected responses are rewritten."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    enabled: bool = False
    """Rewrite rejected responses, for several calls each."""
    writer: SubjectSettings | None = None
    """The model that rewrites; the judge if not set. The local judge and a `service` cannot."""

    @field_validator("writer")
    @classmethod
    def _reads_prompts(cls, value: SubjectSettings | None) -> SubjectSettings | None:
        if value is not None and value.backend == "service":
            raise ValueError("a service reads no prompts; backend should be 'openai' or 'replay'")
        return value

    def build_writer(self, writer: Model | None, on_usage: "UsageListener | None" = None) -> Model:
        """The model that rewrites: that of `writer`'s settings, else `writer`, the service's.

        Raises:
            ValueError: nobody is named and the judge cannot write, or the writer is a replay without a usable file.
        """
        if self.writer is not None:
            from models.build import build_model

            return build_model(self.writer, section="improver.writer", on_usage=on_usage)
        if writer is None:
            raise ValueError(
                "the local judge compares and cannot write; set improver.writer.base_url and improver.writer.model "
                "(an OpenAI-compatible endpoint), or judge.backend = 'openai'"
            )
        return writer


class RecordSource(Protocol):
    """Makes records on a schedule, by asking subjects; the checkers then take them like any others."""

    @property
    def name(self) -> str:
        """Name of the agent that runs it, such as `probe-scheduler`, and the `source` of its records."""

    @property
    def models(self) -> Sequence[str]:
        """Subjects to ask."""

    @property
    def seconds_between(self) -> float:
        """Length of the intervals, each of which has one record of a subject at most."""

    async def record(self, model: str, number: int, id_: str) -> Envelope:
        """Ask `model`, and return the record, which gets `id_` and the source's name.

        `number` decides what is asked: it is that of the interval since 1970. Raises ModelUnavailable.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerPlugin:
    """A checker and what its method brings along."""

    checker: type[Checker[Any]]
    explain: Callable[[Verdict], Iterable[str]] = lambda verdict: ()
    """Lines for a person, of at most `checkers.wording.explanation_width()` columns and without indentation. They are
    shown in place of the verdict's reason; none if that says it all."""
    improver: Callable[[Checker[Any], Model], Improver] | None = None
    source: Callable[[Any, Models], RecordSource] | None = None
    """What makes records by itself, on a schedule; raises ValueError for settings that cannot be used."""
    source_name: str = ""
    source_switch: str = ""
    """The checker's setting that switches the source on, such as `probes.corpus`."""
    count: "Callable[[CollectorRegistry, SubjectLabels], VerdictCount] | None" = None
    """Builds the metrics of the method's own, once a worker."""
    stand_ins: Callable[[], Mapping[str, Model]] | None = dict
    """Models of this process that play subjects of the sample records in `assay demo`, by the records' `model`; None if
    nothing can, and the demo leaves the checker out."""
    form_cases: Callable[[str], Iterable[FormCase]] = lambda method: ()
    """From the checker's name to built-in questions of the method to a subject or writer, those of a role together."""
    demo: Mapping[str, JsonValue] = field(default_factory=dict)
    """Settings of the checker in `assay demo` that differ from the defaults."""
    many: bool = False
    """True if each table of its section is a checker with the table's name, and its `unit`."""
    section: str | None = None
    """Such a table; None if the section with its name is its own."""

    @property
    def name(self) -> str:
        return self.checker.name

    @property
    def kinds(self) -> frozenset[str]:
        return self.checker.kinds

    @property
    def settings(self) -> type[CheckerSettings]:
        return self.checker.settings_type

    def members(self, settings: Any) -> Iterator[tuple["CheckerPlugin", CheckerSettings]]:
        """The checkers of its section with the settings of each: itself, or one for each table."""
        if not self.many:
            yield self, settings
            return
        for name, one in settings.items():
            checker = type(name, (self.checker,), {"name": name, "unit": one.unit})
            yield replace(self, checker=checker, many=False, section=f"{self.name}.{name}"), one

    def has_source(self, settings: Any) -> bool:
        """True if the checker's settings switch its source on."""
        return attrgetter(self.source_switch)(settings) is not None

    def build(self, settings: Any, models: Models) -> Checker[Any]:
        """The checker, with both judges of a cascade if it has thresholds; raises what its constructor raises."""
        scores = isinstance(settings, ScoringSettings) and settings.thresholds.are_set
        if models.screen is None or not scores or not self.checker.asks_judge or self.checker.answers_questions:
            return self.checker(settings, models)
        bare = settings.model_copy(update={"thresholds": Thresholds()})
        checker = self.checker(bare, replace(models, screen=None))
        checker.screen = self.checker(settings, replace(models, judge=models.screen, screen=None, writer=None))
        return checker


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
        """The plugins with these names, in their order, all if there are no names; raises UnknownChecker."""
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
    # A package that is twice on the path (a checkout and its installed copy) names the same checker twice.
    found = {(one.name, one.value): one for one in entry_points(group=_ENTRY_POINT_GROUP)}
    for _, entry_point in sorted(found.items()):
        try:
            plugin = _load(entry_point)
            if plugin.name in reserved:
                raise TypeError(f"its name {plugin.name!r} is a section of the configuration already")
            if plugin.name in plugins:
                raise TypeError(f"another installed checker has the name {plugin.name!r}")
            if plugin.improver is not None and any(other.improver is not None for other in plugins.values()):
                raise TypeError("it brings an improver, and another installed checker does so already")
        except Exception as error:  # noqa: BLE001 - a third party's module may raise anything at all
            package = f" of {entry_point.dist.name}" if entry_point.dist else ""
            named = f"{entry_point.name} = {entry_point.value!r}{package}"
            broken[entry_point.name] = f"entry point {named}: {type(error).__name__}: {error}"
        else:
            plugins[plugin.name] = plugin
    return InstalledCheckers(plugins=dict(sorted(plugins.items())), broken=broken)


def own_checkers() -> list[CheckerPlugin]:
    """The checkers that come with assay."""
    own = distribution("assay").entry_points.select(group=_ENTRY_POINT_GROUP)
    return sorted((_load(entry_point) for entry_point in own), key=lambda plugin: plugin.name)


def _load(entry_point: EntryPoint) -> CheckerPlugin:
    found = entry_point.load()
    plugin = CheckerPlugin(checker=found) if isinstance(found, type) and issubclass(found, Checker) else found
    if not isinstance(plugin, CheckerPlugin):
        raise TypeError(f"expected a Checker class or a CheckerPlugin, got {type(plugin).__name__}")
    if not _NAME.fullmatch(plugin.name):
        raise TypeError(f"its name {plugin.name!r} should be of lower-case letters, digits and single underscores")
    return plugin
