"""`assay trust`: the No-Data Algorithm over a file of datapoints."""

import asyncio
import sys
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.failures import NotFinished, WrongUse, told
from assay.cli.options import config_option, configuration, quiet_logs

if TYPE_CHECKING:
    from assay.config import Configuration
    from assay.trust.preparing import Options
    from assay.trust.results import Tally

_MODES = ("protocol", "strings", "claims")


@click.command(short_help="Trust in a labeller over a file of datapoints.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--rubric",
    "rubrics",
    multiple=True,
    required=True,
    metavar="R",
    help="A rubric file, or the name of one in labelling.rubrics; k labels take k - 1 of them.",
)
@click.option(
    "--evaluator",
    metavar="E",
    help="Who labels: llm:SUBJECT, tree:TRAINING_FILE or call:MODULE:NAME; without it the model that a record names, "
    "or the only subject.",
)
@click.option(
    "--x", "x", default="x", show_default=True, metavar="FIELD", help="The datapoint's field; a.b for one in a."
)
@click.option("--y", "y", default="y", show_default=True, metavar="FIELD", help="The field of a label to compare with.")
@click.option(
    "--rounds", type=click.IntRange(1, 20), help="Challenges to pass; 3 unless labelling.rounds says otherwise."
)
@click.option(
    "--phi", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Probability to flip after a failure."
)
@click.option("--strategy", type=click.Choice(("generate", "pick")), help="How a model makes x'.")
@click.option(
    "--examples",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Datapoints to show, and to pick from.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="What all draws are made of.")
@click.option(
    "--mode",
    type=click.Choice(_MODES),
    default="protocol",
    show_default=True,
    help="strings and claims repeat the authors' notebooks: x' may be x; claimed bits are compared.",
)
@click.option("--generates-by", metavar="R", help="For a tree: the rubric its generator knows; --rubric without it.")
@click.option(
    "--lie", type=click.Choice(("sigma", "f", "replaced")), help="For a tree: what its generator only claims to know."
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a line a datapoint; resumable.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@config_option
def trust(
    *,
    file: Path,
    rubrics: tuple[str, ...],
    evaluator: str | None,
    x: str,
    y: str,
    rounds: int | None,
    phi: float,
    strategy: str | None,
    examples: Path | None,
    seed: int,
    mode: str,
    generates_by: str | None,
    lie: str | None,
    out: Path | None,
    as_json: bool,
    config_file: Path | None,
) -> None:
    """Test whether a labeller knows why it labels the datapoints of FILE as it does, without reference labels.

    FILE holds JSON lines (or one JSON list): objects with a field x, or labelling records. Each datapoint goes through
    the evaluator-verifier protocol; the share of those that pass is the trust figure. With --out a run that was broken
    off goes on where it was.
    """
    loaded = configuration(config_file)
    quiet_logs()
    with told():
        from assay.trust.journal import OtherRun
        from assay.trust.preparing import CannotRun, Options
        from assay.trust.run import Lost

        options = Options(
            file=file,
            rubrics=rubrics,
            evaluator=evaluator,
            x=x,
            y=y,
            rounds=rounds,
            phi=phi,
            strategy=strategy,
            examples=examples,
            seed=seed,
            mode=mode,
            generates_by=generates_by,
            lie=lie,
        )
        try:
            tally = asyncio.run(_run(loaded, options, out))
        except (CannotRun, OtherRun) as error:
            raise WrongUse(str(error)) from None
        except Lost as error:
            kept = "; what is done is kept, the same command goes on from there" if out else ""
            raise NotFinished(f"{error}{kept}") from None
        except OSError as error:
            raise NotFinished(f"reading or writing failed: {error.strerror}") from None
    if as_json:
        import orjson

        click.echo(orjson.dumps(tally.summary(), option=orjson.OPT_INDENT_2).decode())
    else:
        for line in tally.lines():
            click.echo(line)


async def _run(loaded: "Configuration", options: "Options", out: Path | None) -> "Tally":
    from assay.progress import progress
    from assay.trust.journal import Journal
    from assay.trust.preparing import prepare
    from assay.trust.results import Result, Tally
    from assay.trust.run import Run, rest_collector
    from assay.wiring import wired
    from checkers.patience import ModelPatience

    async with wired(loaded, []) as service:
        prepared = prepare(options, loaded, service.models)
        rules = prepared.rules
        problem = prepared.table.problem
        tally = Tally(problem.labels, rounds=rules.rounds, phi=rules.phi, bounded=rules.bounded)
        journal = Journal(out, prepared.identity) if out else None
        with ExitStack() as stack:
            if journal is not None:
                for result in journal.results():
                    tally.add(result)
                stack.enter_context(journal)
            shown = stack.enter_context(progress(bar=sys.stderr.isatty(), total=prepared.survey.count))
            if tally.datapoints:
                shown.say(f"going on after {tally.datapoints} of {prepared.survey.count} datapoints")

            def emit(result: Result) -> None:
                if journal is not None:
                    journal.add(result)
                tally.add(result)
                shown.at(tally.datapoints, f"{tally.datapoints} datapoints, {tally.successes} passed")

            rest_collector()
            run = Run(prepared.table, rules, window=prepared.window, patience=ModelPatience(shown.say))
            await run.over(islice(prepared.datapoints, tally.datapoints, None), emit)
        if journal is not None:
            journal.finish()
    return tally
