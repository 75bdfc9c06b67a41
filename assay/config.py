"""The configuration: the sections of all packages, from a file and from the environment, which takes precedence."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ValidationError, create_model
from pydantic_settings import BaseSettings

from agents.monitor.settings import AlertmanagerSettings, LabelSettings, TrustSettings
from agents.routing import BudgetSettings, RoutingSettings
from agents.webhook_settings import WebhookName, WebhookSettings
from assay.origins import Origins, from_environment, misspelt_variables, variables
from checkers.checker import NOBODY, CheckerSettings, ScoringSettings
from checkers.plugin import CheckerName, ImproverSettings, InstalledCheckers, installed_checkers
from models.settings import JudgeSettings, SubjectSettings
from store.settings import StoreSettings
from streams.otlp.settings import OtlpSettings
from streams.settings import SettingsSection, StreamSettings
from web.settings import PageSettings

ModelT = TypeVar("ModelT", bound=BaseModel)

DEFAULT_FILE = Path("assay.toml")


class Misconfigured(ValueError):
    """The configuration is wrong; the message has a line for each fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A checked configuration."""

    streams: StreamSettings
    judge: JudgeSettings
    subjects: dict[str, SubjectSettings]
    """By the `model` of records."""
    routing: RoutingSettings
    budgets: dict[str, BudgetSettings]
    """By the name of a checker or of a source of records, or `improver`."""
    trust: TrustSettings
    alertmanager: AlertmanagerSettings
    labels: LabelSettings
    improver: ImproverSettings
    webhooks: dict[WebhookName, WebhookSettings]
    store: StoreSettings
    ui: PageSettings
    otlp: OtlpSettings
    checkers: Mapping[str, CheckerSettings]
    """Settings of each installed checker, by its name."""
    installed: InstalledCheckers
    origins: Origins
    sections: Mapping[str, Any]
    """All settings by section, in the order in which they are shown."""
    warnings: tuple[str, ...]
    """Settings that work but are probably mistakes."""


_OTHER_FIELDS = ("streams", "checkers", "installed", "origins", "sections", "warnings")
_CORE_SECTIONS: dict[str, Any] = {
    **{name: field.annotation for name, field in StreamSettings.model_fields.items()},
    **{
        name: form
        for name, form in get_type_hints(Configuration, include_extras=True).items()
        if name not in _OTHER_FIELDS
    },
}

IMPROVER = "improver"
"""Name of the improver in budgets and agents."""


def installed() -> InstalledCheckers:
    """The checkers that are installed, without those that have the name of a section."""
    return installed_checkers(reserved=_CORE_SECTIONS)


def load_configuration(file: Path | None = None) -> Configuration:
    """The configuration from `file` (default: `assay.toml` in the current folder, if there is one) and the environment.

    Raises:
        Misconfigured: names every wrong key as it was written, its value and what is allowed.
    """
    found = installed()
    sections = all_sections(found)
    if file is None and DEFAULT_FILE.is_file():
        file = DEFAULT_FILE
    from_file = _read(file) if file else {}
    subjects = from_file.get("subjects")
    set_here = from_environment(model_of(sections, BaseSettings), subjects if isinstance(subjects, dict) else ())
    origins = Origins(file=file, from_file=from_file, variables=variables())
    # Of the variables only known sections are read.
    strange: dict[str, Any] = {path[0]: {} for path in origins.variables if path[0] not in sections}
    return _checked(strange | _merge(from_file, set_here), found, origins)


def default_configuration(checkers: Sequence[str]) -> Configuration:
    """The defaults of the demo, with these checkers alone; files and variables are ignored."""
    plugins = installed().select(checkers)
    found = InstalledCheckers(plugins={plugin.name: plugin for plugin in plugins}, broken={})
    tree = {plugin.name: dict(plugin.demo) for plugin in plugins}
    return _checked(tree, found, Origins(file=None, from_file={}, variables={}))


def all_sections(installed: InstalledCheckers) -> dict[str, Any]:
    """The type of each section: ours, then a section for each installed checker."""
    return _CORE_SECTIONS | {
        name: dict[CheckerName, plugin.settings] if plugin.many else plugin.settings  # type: ignore[name-defined]
        for name, plugin in installed.plugins.items()
    }


def model_of(sections: Mapping[str, Any], base: type[ModelT]) -> type[ModelT]:
    """The model of all settings."""
    fields: dict[str, Any] = {name: (annotation, ...) for name, annotation in sections.items()}
    return create_model("Settings", __base__=base, **fields)


def _checked(tree: Mapping[str, Any], installed: InstalledCheckers, origins: Origins) -> Configuration:
    sections = all_sections(installed)
    form = model_of(sections, SettingsSection)
    # A section of a broken checker is not the user's mistake.
    known = {name: value for name, value in tree.items() if name not in installed.broken}
    try:
        settings = form.model_validate({name: known.get(name, {}) for name in sections} | known)
    except ValidationError as error:
        raise Misconfigured("\n".join(origins.explained(error, form))) from None
    configuration = _configuration(settings, installed, origins)
    if faults := [*_impossible(configuration)]:
        raise Misconfigured("\n".join(faults))
    return configuration


def _impossible(configuration: Configuration) -> Iterator[str]:
    """A line for every unknown name of a checker, and for what cannot work together."""
    # Settings of a broken checker are not the user's mistake.
    installed = [*configuration.installed.plugins, *configuration.installed.broken]
    for name in configuration.routing.unknown_checkers(installed):
        yield f"routing: there is no checker {name!r}; installed are {', '.join(installed)}"
    plugins = configuration.installed.plugins
    spending = [*installed, IMPROVER, *(plugin.source_name for plugin in plugins.values() if plugin.source)]
    for name in configuration.budgets:
        if name not in spending:
            yield f"budgets.{name}: nothing has this name; allowed are {', '.join(spending)}"
    if configuration.improver.enabled and configuration.installed.improver is None:
        yield "improver.enabled: no installed checker brings an improver"
    scoring = {
        name: settings.thresholds
        for name, settings in configuration.checkers.items()
        if isinstance(settings, ScoringSettings) and not plugins[name].checker.answers_questions
    }
    if configuration.judge.backend == "cascade" and not any(one.are_set for one in scoring.values()):
        sections = " or ".join(f"[{name}.thresholds]" for name in scoring) or "none is installed that has any"
        yield f"judge.backend = 'cascade': the local judge decides by thresholds, and none are set ({sections})"


def _configuration(settings: BaseModel, installed: InstalledCheckers, origins: Origins) -> Configuration:
    sections = {name: getattr(settings, name) for name in type(settings).model_fields}
    members = [one for plugin in installed.plugins.values() for one in plugin.members(sections[plugin.name])]
    members.sort(key=lambda one: one[0].name)
    own = [plugin for plugin, _ in members if plugin.section]
    taken = Counter([*sections, NOBODY, *(plugin.name for plugin in own)])
    if faults := [plugin for plugin in own if taken[plugin.name] > 1]:
        raise Misconfigured(f"{faults[0].section}: a checker or a section is called {faults[0].name} already")
    return Configuration(
        streams=StreamSettings(**{name: sections[name] for name in StreamSettings.model_fields}),
        **{name: sections[name] for name in _CORE_SECTIONS if name not in StreamSettings.model_fields},
        checkers={plugin.name: settings for plugin, settings in members},
        installed=replace(installed, plugins={plugin.name: plugin for plugin, _ in members}),
        origins=origins,
        sections=sections,
        warnings=(
            *(f"a checker is skipped: {broken}" for broken in installed.broken.values()),
            *misspelt_variables(sections),
            *(
                f"budgets.{name}.cost limits nothing while judge.prices are not set"
                for name, budget in sections["budgets"].items()
                if budget.cost is not None and name in installed.plugins and not any(sections["judge"].prices.values())
            ),
            *(
                f"{one.section}: every verdict abstains, as judge.backend = 'local' answers no questions"
                for one in own
                if one.checker.answers_questions and sections["judge"].backend == "local"
            ),
        ),
    )


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below`, overridden by `above` key by key in every table."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _merge(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{file} cannot be read as TOML: {error}") from None
