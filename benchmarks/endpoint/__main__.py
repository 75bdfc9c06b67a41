"""A model behind an endpoint as a judge, in several forms, and the bundled judge, on the same rows.

    python -m benchmarks.endpoint --base-url URL --model NAME [--data FOLDER] [--rows N] [--forms short,list,...]

The forms are those of the consistency checker; `wording` is another prompt from a file, such as MiniCheck's published
one. The model's self-test finds the threshold (run `assay judge check` before, or it is run first).

Balanced accuracy and AUROC count an abstention as one half; the interval is 95% by a bootstrap over passages. *New* are
the tokens that the endpoint had to read, those it had cached not counted (of `paper` all). Results
are kept in --keep by form and row: a run that was broken off goes on where it stopped.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
from sklearn.metrics import roc_auc_score

from assay.cli.common import CannotRun
from benchmarks.asked import Kept, Lines, command, patient, run
from benchmarks.endpoint.forms import UNDECIDED, ConsistencyForm, Form, WordingForm
from benchmarks.endpoint.rows import Row, row_sets
from models.settings import JudgeSettings

FORMS = ("short", "list", "paper", "wording", "bundled")
HEADS = ["set", "form", "rows", "balanced", "AUROC", "95%", "abstained", "calls", "new", "written", "seconds"]
RESAMPLES = 2000

Result = tuple[float | None, float, float, float, float]
"""Support (None: abstained), calls, new tokens, tokens written, seconds."""


def main() -> int:
    parser = command("endpoint", __doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder of the public data sets")
    parser.add_argument("--wording", type=Path, metavar="FILE", help="another prompt, such as MiniCheck's")
    parser.add_argument("--rows", type=int, default=30, help="of each public set at most (default: %(default)s)")
    parser.add_argument("--forms", default=",".join(FORMS), help="(default: %(default)s)")
    parser.add_argument("--sets", help="names of sets, or their beginnings, between semicolons (default: all)")
    return run(parser.parse_args(), _measured, HEADS)


async def _measured(options: argparse.Namespace, kept: Kept) -> Lines:
    prefixes = tuple((options.sets or "").split(";"))
    lines: Lines = []
    forms = _forms(options)
    try:
        for name, rows in row_sets(options.data, options.rows).items():
            if name.startswith(prefixes):
                for form, asked in forms.items():
                    results = await _results(f"{form} {asked.version} {options.model}", asked, rows, kept)
                    lines.append([name, form, *_figures(rows, results)])
                    print(" ".join(map(str, lines[-1])), file=sys.stderr, flush=True)
    finally:
        for one in forms.values():
            await one.close()
    return lines


def _forms(options: argparse.Namespace) -> dict[str, Form]:
    forms: dict[str, Form] = {}
    for name in options.forms.split(","):
        if name in {"short", "list"}:
            forms[name] = ConsistencyForm(patient(options, form=name))
        elif name == "paper":  # it has no threshold, so its self-test would find none
            forms[name] = ConsistencyForm(patient(options, form=name, threshold=0.0))
        elif name == "wording":
            if options.wording:
                wording = options.wording.read_text(encoding="utf-8").strip()
                forms[name] = WordingForm(patient(options), wording)
        elif name == "bundled":
            forms[name] = ConsistencyForm(JudgeSettings(backend="local"))
        else:
            raise CannotRun(f"there is no form {name}; there are {', '.join(FORMS)}")
    return forms


async def _results(name: str, form: Form, rows: Sequence[Row], kept: Kept) -> list[Result]:
    """A result for each row; those of `name` that are kept are not asked for again."""

    async def judged(row: Row) -> Result:
        support, usage = await form.judge(row)
        new = usage.prompt_tokens - usage.cached_tokens
        return support, usage.calls, new, usage.completion_tokens, usage.seconds

    return [await kept.get(f"{name} {row.id}", partial(judged, row)) for row in rows]


def _figures(rows: Sequence[Row], results: Sequence[Result]) -> list[object]:
    good = np.array([row.good for row in rows])
    scores = np.array([UNDECIDED if support is None else support for support, *_ in results])
    abstained = np.array([support is None for support, *_ in results])
    right = np.where(abstained, 0.5, (scores >= UNDECIDED) == good)
    calls, new, written, seconds = (fmean(column) for column in zip(*(cost for _, *cost in results), strict=True))
    return [
        len(rows),
        float(right[good].mean() + right[~good].mean()) / 2,
        float(roc_auc_score(good, scores)),
        _interval([row.passages for row in rows], good, scores),
        int(abstained.sum()),
        round(calls, 1),
        round(new),
        round(written, 1),
        round(seconds, 1),
    ]


def _interval(passages: Sequence[str], good: np.ndarray, scores: np.ndarray) -> str:
    """Of the AUROC, drawing passages with all that was asked about them."""
    groups = [np.flatnonzero([one == text for one in passages]) for text in dict.fromkeys(passages)]
    draws = np.random.default_rng(1)
    found = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([groups[place] for place in draws.integers(len(groups), size=len(groups))])
        if 0 < good[drawn].sum() < len(drawn):
            found.append(roc_auc_score(good[drawn], scores[drawn]))
    low, high = np.quantile(found, (0.025, 0.975))
    return f"{low:.2f} to {high:.2f}"


if __name__ == "__main__":
    sys.exit(main())
