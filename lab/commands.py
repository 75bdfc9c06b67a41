"""The commands that the laboratory adds to `assay`; what a command needs is imported when it runs."""

import asyncio
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from assay.cli.common import (
    EXISTING,
    NUMBER,
    OUTPUT,
    RATE,
    CannotRun,
    NotFinished,
    WrongUse,
    configured,
    print_report,
    run_errors,
)
from checkers.longtail.questions import Way
from lab.audit import METRICS, RELATIONS, STORE_METRICS

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.audit.measuring import Row
    from lab.audit.triplets import Groups
    from lab.runs import Make

_PICTURES = (".png", ".svg", ".pdf")

_json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
_seed_option = click.option("--seed", type=int, default=0, show_default=True, help="What all draws are made of.")


def _over_a_file(command: Callable[..., "Make"]) -> Callable[..., None]:
    """Give a run over a file its options; the figures of what it makes are printed."""

    @click.option("--out", type=OUTPUT, help="Write a line for each result; resumable.")
    @_json_option
    @configured
    @wraps(command)
    def run(*, loaded: "Configuration", out: Path | None, as_json: bool, **options: Any) -> None:
        from lab.runs import figures_of

        with run_errors(resumable=out is not None):
            figures = asyncio.run(figures_of(loaded, out, command(loaded=loaded, **options)))
        print_report(*figures, as_json=as_json)

    return run


@click.command(short_help="A subject's own yes and no about pairs of sentences.")
@click.argument("file", type=EXISTING)
@click.option("--subject", default="", metavar="NAME", help="Who is asked. Default: the only subject.")
@_over_a_file
def equivalence(*, loaded: "Configuration", file: Path, subject: str) -> "Make":
    """Ask a subject whether the two sentences of each line of FILE mean the same, and check its answers.

    FILE holds JSON lines with sentence1, sentence2 and, if it is known, a label: true if they mean the same. With --out
    an interrupted run goes on where it stopped.
    """
    from checkers.lines import read_forms
    from lab.equivalence import LabelledPair, PairRun

    pairs = list(read_forms(LabelledPair, file, "pair of sentences", fault=CannotRun))
    return lambda models: PairRun(loaded, pairs, subject, models)


@click.command(short_help="Trust in a labeller over a file of datapoints.")
@click.argument("file", type=EXISTING)
@click.option("--rubric", "rubrics", multiple=True, required=True, metavar="R",
              help="A rubric file, or the name of one in labelling.rubrics; k labels take k - 1 of them.")  # fmt: skip
@click.option("--evaluator", default="", metavar="SUBJECT",
              help="The labeller. Default: the only subject.")  # fmt: skip
@click.option("--x", default="x", show_default=True, metavar="FIELD", help="The datapoint's field.")
@click.option("--y", default="y", show_default=True, metavar="FIELD", help="The field of a label to compare with.")
@click.option("--phi", type=RATE, default=0.0, show_default=True, help="Probability to flip after a failure.")
@_seed_option
@_over_a_file
def trust(*, loaded: "Configuration", file: Path, x: str, y: str, **options: Any) -> "Make":
    """Test whether a labeller knows why it labels the datapoints of FILE as it does, without reference labels.

    FILE holds JSON lines with a field x. Each datapoint goes through the evaluator-verifier protocol; the share of
    those that pass is the trust figure. Rounds, strategy and examples are
    those of the configuration. With --out an interrupted run goes on where it stopped.
    """
    from lab.labelling import CorpusRun, read_datapoints

    datapoints = read_datapoints(file, x, y)
    return lambda models: CorpusRun(datapoints, loaded, models, **options)


@click.group(short_help="Statements about common and rare facts.")
def probes() -> None:
    """Make statements about common and rare facts from logic rules, and ask models about them."""


@probes.command("build", short_help="Make statements from logic rules.")
@click.argument("rules", metavar="RULES")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True,
              help="Folder for the statements and for what models answered; resumable.")  # fmt: skip
@click.option("--only", multiple=True, metavar="RULE", help="The rule of this name alone; may be given several times.")
@click.option("--scorer", default="endpoint:judge", show_default=True, metavar="M",
              help="The model whose likelihood of a sentence ranks it: endpoint:judge or endpoint:SUBJECT, behind vLLM "
              "or llama.cpp.")  # fmt: skip
@click.option("--measurer", metavar="M", help="Another one, which says how far head and tail are apart (delta).")
@click.option("--values", type=click.IntRange(1, 200), default=50, show_default=True, help="Values asked for at once.")
@click.option("--beams", type=click.IntRange(1, 5000), default=200, show_default=True, help="Beams that are kept.")
@_json_option
@configured
def build(
    *, loaded: "Configuration", rules: str, only: tuple[str, ...], out: Path, as_json: bool, **options: Any
) -> None:
    """Search for statements, common ones and rare ones, that follow by the rules of the file RULES.

    RULES is a file, or `bundled` for the rules that come with assay. A model is asked for values, a critic judges
    them, and the likelihood of the sentence decides which are kept. DIR/statements.jsonl gets a line a statement.
    Whatever a model answers is kept in DIR/answers.sqlite at once: the same command goes on where an interrupted one
    stopped, asks nothing twice, and gives the same file.
    """
    from lab.link import statements
    from lab.link.rules import read_rules

    with run_errors(resumable=True):
        chosen = read_rules(rules, only)
        out.mkdir(parents=True, exist_ok=True)
        scorers = {name: options.pop(name) for name in ("scorer", "measurer")}
        figures, lacking = asyncio.run(statements.build(loaded, chosen, out, scorers, **options))
    print_report(*figures, as_json=as_json)
    if lacking:
        raise NotFinished(f"no statement was found: {lacking}")


@probes.command("run", short_help="Ask models about statements, head and tail apart.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--model", "names", multiple=True, metavar="M",
              help="A subject by its name in the configuration; may be given several times. Default: the only "
              "subject.")  # fmt: skip
@click.option("--way", "ways", multiple=True, type=click.Choice(get_args(Way)), default=("zero-shot",),
              show_default=True,
              help="Ask for the answer alone, or for reasoning first; may be given twice.")  # fmt: skip
@click.option("--limit", type=NUMBER, metavar="N", help="At most N statements of each domain and distribution.")
@_seed_option
@_over_a_file
def run(*, loaded: "Configuration", data: Path, **options: Any) -> "Make":
    """Ask models about the statements in DATA, each in 13 ways, and count the right answers.

    DATA is a file of statements, the folder that `assay probes build` wrote, or `bundled` for the small corpus that
    comes with assay. The figures are by domain, head and tail, and apart for probes that are to be affirmed (positive)
    and denied (negative). With --out an interrupted run goes on where it stopped.
    """
    from lab.probes import ProbeRun

    return lambda models: ProbeRun(data, loaded, models, **options)


@click.group(short_help="False matches of embedding models and vector stores.")
def audit() -> None:
    """Try what matches texts on triplets of a base, a text that means the same and one that only looks the same.

    Whatever matches texts should find the first of the two closer to the base.
    """


_AUDIT_OPTIONS = (
    click.option("--triplets", multiple=True, type=EXISTING, help="Triplets as JSON lines; may be repeated."),
    click.option("--texts", type=EXISTING, help="Texts of yours, one a line, to make triplets of through the judge."),
    click.option("--relation", "relations", multiple=True, type=click.Choice(RELATIONS), help="Only these relations."),
    _seed_option,
    click.option("--save-triplets", "save", type=OUTPUT, help="Keep the triplets that were made, for --triplets."),
    click.option("--heat-map", type=OUTPUT, help=f"Draw relation by metric ({', '.join(_PICTURES)})."),
    _json_option,
    configured,
)  # fmt: skip


def _audited(prepare: Callable[..., Callable[["Groups"], Iterator["Row"]]]) -> Callable[..., None]:
    """Give an audit the options that say where triplets come from and where figures go.

    What is audited is opened first, so that what is wrong shows before a judge is paid, or others have worked for
    hours. What that returns makes rows of figures of triplets.
    """

    @wraps(prepare)
    def run(*, loaded: "Configuration", heat_map: Path | None, as_json: bool, **given: Any) -> None:
        if heat_map is not None and heat_map.suffix not in _PICTURES:
            raise WrongUse(f"--heat-map {heat_map}: a picture's name ends in {', '.join(_PICTURES)}")
        if bool(given["triplets"]) == (given["texts"] is not None):
            raise WrongUse("either --triplets or --texts says what to audit with, and not both")
        from models.model_loading import without_bars

        without_bars()
        from lab.audit.measuring import draw, report
        from lab.audit.triplets import gather

        source = {name: given.pop(name) for name in ("triplets", "texts", "relations", "seed", "save")}
        rows_of = prepare(loaded=loaded, **given)
        groups, notes = asyncio.run(gather(loaded, **source))
        for note in notes:
            click.echo(note, err=True)
        rows: list[Row] = []
        try:
            # Those before an error stay: hours may be in them.
            rows.extend(rows_of(groups))
        finally:
            if rows:
                # Printed first: a file that cannot be written must not lose the figures.
                print_report(*report(rows, notes), as_json=as_json)
                if heat_map is not None:
                    draw(rows, heat_map)

    for option in reversed(_AUDIT_OPTIONS):
        run = option(run)
    return run


@audit.command(short_help="Embedding models, by relation and metric.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--metric", "metrics", multiple=True, type=click.Choice(METRICS), default=METRICS,
              help="How vectors are compared; all seven without it.")  # fmt: skip
@_audited
def embeddings(
    *, loaded: "Configuration", models: tuple[str, ...], metrics: tuple[Any, ...]
) -> Callable[["Groups"], Iterator["Row"]]:
    """Count how often each MODEL finds the text that means the same closer than one that only looks the same.

    MODEL is the name or the folder of a sentence-transformers model, `bundled` for that of the local judge, or
    openai:NAME for one behind the endpoint in judge.base_url. Each sentence is encoded once, whatever the number of
    metrics. Beneath each accuracy stands the control: the same texts, and the neighbour's positive where the negative
    was.
    """
    from lab.audit.embedding import embedder, encoded
    from lab.audit.measuring import embedding_rows, sentences_of

    for name in models:
        embedder(name, loaded.judge)

    def rows(groups: "Groups") -> Iterator["Row"]:
        for name in dict.fromkeys(models):
            # One model is in memory at a time.
            model = embedder(name, loaded.judge)
            vectors = encoded(model, sentences_of(groups))
            yield from embedding_rows(model.name, vectors, groups, tuple(dict.fromkeys(metrics)))

    return rows


@audit.command(short_help="Vector stores, by relation.")
@click.argument("stores", nargs=-1, required=True, metavar="STORE...")
@click.option("--model", default="bundled", show_default=True,
              help="A sentence-transformers model by name or folder, `bundled`, or openai:NAME.")  # fmt: skip
@click.option("--metric", "metrics", multiple=True, type=click.Choice(STORE_METRICS), default=("cosine",),
              show_default=True, help="How the stores compare vectors; may be given several times.")  # fmt: skip
@_audited
def store(
    *, loaded: "Configuration", stores: tuple[str, ...], model: str, metrics: tuple[Any, ...]
) -> Callable[["Groups"], Iterator["Row"]]:
    """Count how often each STORE names the text that means the same, and not the one that only looks the same.

    STORE is chroma, faiss or postgresql://HOST/DATABASE. It is asked for the one nearest to the base; every case has
    the two candidates alone in a collection, and is asked with k = 1. What is in a store is neither read nor changed.
    """
    from lab.audit.embedding import embedder, encoded
    from lab.audit.measuring import sentences_of, store_rows
    from lab.audit.stores import open_store, without_password

    asked = [(name, metric) for name in dict.fromkeys(stores) for metric in dict.fromkeys(metrics)]
    encoder = embedder(model, loaded.judge)
    (sample,) = encoded(encoder, ["a text"]).values()
    for name, metric in asked:
        with open_store(name, metric=metric, dimension=len(sample)) as opened:
            opened(sample[None, :], sample)

    def rows(groups: "Groups") -> Iterator["Row"]:
        vectors = encoded(encoder, sentences_of(groups))
        for name, metric in asked:
            with open_store(name, metric=metric, dimension=len(sample)) as opened:
                yield from store_rows(without_password(name), opened, metric, vectors, groups)

    return rows
