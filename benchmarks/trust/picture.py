"""The picture of the drop benchmark: delays by drop, and false alarms beside what was promised."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.trust.simulation import DROPS, GOOD, HORIZON, DelayTable
from checkers.intervals import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURED = 10_000
"""The delays are for drops after so many verdicts."""

_COLOURS = ("#0b6e4f", "#6cc19a", "#2f5d9b", "#d1862b", "#e8c07d")
_LINE = "#b3261e"


def draw(alarms: Mapping[str, int], delays: DelayTable, streams: int, promised: float, path: Path) -> Path:
    """Draw it as SVG; the same figures give the same file."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "drops", "font.size": 10})
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), width_ratios=(3, 2), layout="constrained")
    _delays(left, delays)
    _false_alarms(right, alarms, streams, promised)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path


def _delays(axes: "Axes", delays: DelayTable) -> None:
    from matplotlib.ticker import FuncFormatter

    names = list(next(iter(delays.values())))
    width = 0.8 / len(names)
    for place, (name, colour) in enumerate(zip(names, _COLOURS, strict=True)):
        for group, drop in enumerate(DROPS):
            result = delays[drop, _PICTURED][name]
            x = group + (place - (len(names) - 1) / 2) * width
            mean = result.mean if len(result.found) else HORIZON
            axes.bar(x, mean, width * 0.92, color=colour, label=name if group == 0 else None)
            missed = result.missed / (result.missed + len(result.found))
            label = f"{mean:,.0f}" + (f"\n{missed:.0%}\nmissed" if missed else "")
            axes.text(x, mean * 1.06, label, ha="center", va="bottom", fontsize=8)
    axes.set(
        yscale="log",
        ylim=(10, 2 * HORIZON),
        ylabel="verdicts until the alarm, mean",
        title=f"Delay for a drop from {GOOD}, after {_PICTURED:,} good verdicts",
    )
    axes.set_xticks(range(len(DROPS)), [f"{drop * 100:.0f} points" for drop in DROPS])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.legend(frameon=False, loc="upper right")


def _false_alarms(axes: "Axes", alarms: Mapping[str, int], streams: int, promised: float) -> None:
    from matplotlib.ticker import PercentFormatter

    for place, (name, colour) in enumerate(zip(alarms, _COLOURS, strict=True)):
        share = alarms[name] / streams
        low, high = wilson(alarms[name], streams)
        axes.barh(place, share, color=colour)
        axes.plot((low, high), (place, place), color="black", linewidth=1)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.annotate(
            f"{share:.1%}", (high, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9, bbox=box
        )
    axes.axvline(promised, color=_LINE, linestyle="--", linewidth=1)
    axes.text(promised, -0.62, f" promised: {promised:.0%}", color=_LINE, va="center", fontsize=9)
    axes.set_xscale("symlog", linthresh=2 * promised)
    axes.set(
        xlim=(0, 2.5), ylim=(len(alarms) - 0.4, -0.9), title="Streams with a false alarm", xlabel="share of streams"
    )
    axes.set_xticks([0, promised, 0.1, 1])
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_yticks(range(len(alarms)), list(alarms))
