"""Parts that the dashboards are made of, on the Grafana Foundation SDK."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_model
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = model.DataSourceRef(type_val="prometheus", uid="prometheus")

Query: TypeAlias = tuple[str, str]
"""An expression, and the legend of its series."""


def a_second(counter: str, *by: str, where: str = "") -> str:
    """How quickly `counter` grows, by labels; `where` is what its labels must be."""
    return f"sum by ({', '.join(by)}) (rate({counter}{{{where}}}[$__rate_interval]))"


def growth(counter: str, *by: str, where: str = "") -> str:
    """By how much `counter` grew between two points of the picture."""
    return f"sum by ({', '.join(by)}) (increase({counter}{{{where}}}[$__rate_interval]))"


def quantile(share: float, histogram: str, by: str, where: str = "") -> str:
    """What `share` of the observations stay below."""
    rates = f"rate({histogram}_bucket{{{where}}}[$__rate_interval])"
    return f"histogram_quantile({share}, sum by (le, {by}) ({rates}))"


def share(part: str, whole: str) -> str:
    """`part` of `whole`, both summed over all series; nothing where there is nothing."""
    return f"sum({part}) / (sum({whole}) > 0)"


def target(expression: str, legend: str = "", *, letter: str = "A") -> prometheus.Dataquery:
    """A query whose series are named by `legend`."""
    return prometheus.Dataquery().datasource(SOURCE).expr(expression).legend_format(legend).ref_id(letter)


def lines(
    title: str, *queries: Query, unit: str = "short", about: str = "", width: int = 12, maximum: float | None = None
) -> timeseries.Panel:
    """Series over time; `unit` is one of Grafana's."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(about)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
        .height(8)
        .span(width)
        .show_points(common_model.VisibilityMode.NEVER)
        .fill_opacity(8)
        .legend(
            common.VizLegendOptions()
            .display_mode(common_model.LegendDisplayMode.LIST)
            .placement(common_model.LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs([])
        )
        .tooltip(common.VizTooltipOptions().mode(common_model.TooltipDisplayMode.MULTI))
    )
    if maximum is not None:
        panel = panel.max(maximum)
    for position, (expression, legend) in enumerate(queries):
        panel = panel.with_target(target(expression, legend, letter=chr(ord("A") + position)))
    return panel


def figure(
    title: str,
    expression: str,
    *steps: tuple[float, str],
    unit: str = "short",
    about: str = "",
    base: str = "green",
    width: int = 4,
) -> stat.Panel:
    """One figure of now, in the colour of the last of `steps` that it reaches, `base` below all of them."""
    colours = [model.Threshold(value=None, color=base)]
    colours += [model.Threshold(value=value, color=colour) for value, colour in steps]
    return (
        stat.Panel()
        .title(title)
        .description(about)
        .datasource(SOURCE)
        .unit(unit)
        .height(4)
        .span(width)
        .no_value("–")
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .graph_mode(common_model.BigValueGraphMode.NONE)
        .color_mode(common_model.BigValueColorMode.VALUE)
        .thresholds(dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(colours))
        .with_target(target(expression).instant())
    )


def listing(title: str, columns: Mapping[str, str], *, shares: Sequence[str], about: str, height: int) -> table.Panel:
    """A row for each set of labels, a column for each label and each expression of `columns`, by its heading.

    Those of `shares` are shown in per cent.
    """
    panel = table.Panel().title(title).description(about).datasource(SOURCE).height(height).span(24).filterable(True)
    letters = [chr(ord("A") + position) for position in range(len(columns))]
    for letter, expression in zip(letters, columns.values(), strict=True):
        panel = panel.with_target(target(expression, letter=letter).format(PromQueryFormat.TABLE).instant())
    names = {f"Value #{letter}": heading for letter, heading in zip(letters, columns, strict=True)}
    for heading in shares:
        panel = panel.override_by_name(heading, [model.DynamicConfigValue(id_val="unit", value="percentunit")])
    shown = {"excludeByName": {"Time": True, "__name__": True}, "indexByName": {}, "renameByName": names}
    return panel.transformations(
        [
            model.DataTransformerConfig(id_val="merge", options={}),
            model.DataTransformerConfig(id_val="organize", options=shown),
        ]
    )


def choice(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """A variable whose values are those of a label; all of them at first."""
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(query)
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
        .include_all(True)
        .all_value(".*")
        .multi(True)
        .current(model.VariableOption(selected=True, text="All", value="$__all"))
    )


Panel: TypeAlias = timeseries.Panel | stat.Panel | table.Panel

Section: TypeAlias = tuple[str, Sequence[Panel]]
"""A row's title, empty for the first that has none, and its panels from left to right."""


def page(uid: str, title: str, about: str, variables: Sequence[dashboard.QueryVariable], *sections: Section) -> str:
    """The dashboard as JSON, its panels numbered in their order."""
    built = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(about)
        .tags(["assay"])
        .refresh("15s")
        .time("now-6h", "now")
        .timezone("browser")
        .readonly()
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .link(
            dashboard.DashboardLink("assay").type(model.DashboardLinkType.DASHBOARDS).tags(["assay"]).as_dropdown(False)
        )
    )
    for variable in variables:
        built = built.with_variable(variable)
    number = 0
    for heading, panels in sections:
        if heading:
            number += 1
            built = built.with_row(dashboard.Row(heading).id(number))
        for panel in panels:
            number += 1
            built = built.with_panel(panel.id(number))
    return JSONEncoder(sort_keys=True, indent=2).encode(built.build()) + "\n"
