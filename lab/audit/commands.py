"""`assay audit`: embedding models, vector stores and text matchers, tried on texts that only look the same."""

import asyncio
import functools
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import click

from assay.cli.front_door import NotFinished, WrongUse, config_option, configuration, quiet_logs, run_errors
from checkers.retrieval.relations import RELATIONS
from lab.audit.cases import METRICS, AuditFailed, CannotAudit, Figure, Metric
from lab.audit.source import MADE, AuditTriplets, TripletSource, gather
from lab.audit.stores.address import ENGINES, StoreMetric, read_address
from lab.triplets import COLUMNS, BadTriplets, Columns, relation_named

_PICTURES = (".png", ".svg", ".pdf")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)
_FORMS = "\n".join(f"  {form:<34} {', '.join(engine.metrics)}" for engine in ENGINES.values() for form in engine.forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOutput:
    """Where figures go."""

    csv: Path | None
    heat_map: Path | None
    details: bool
    as_json: bool


@click.group(short_help="False matches of embedding models, stores and text matchers.")
def audit() -> None:
    """Try what matches texts on triplets of a base, a text that means the same and one that only looks the same.

    Whatever matches texts should find the first of the two closer to the base.
    """


def _audit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where triplets come from (`source`), where figures go (`output`), and the configuration file."""

    @click.option("--triplets", multiple=True, type=_FILE, help="Triplets as JSON lines; may be given several times.")
    @click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="FIELD=NAME",
        help=f"What a field is called in the files; the fields are {', '.join(COLUMNS)}.",
    )
    @click.option("--texts", type=_FILE, help="Texts of yours, one a line, to make triplets of through the judge.")
    @click.option("--text-field", metavar="NAME", help="The texts are JSON lines, and stand in this field.")
    @click.option("--relation", "relations", multiple=True, type=click.Choice(RELATIONS), help="Only these relations.")
    @click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=5000,
        show_default=True,
        help="Take at most so many triplets of each relation, or texts.",
    )
    @click.option("--seed", type=int, default=0, show_default=True, help="Seed for what is drawn in making triplets.")
    @click.option(
        "--gate/--no-gate", default=True, show_default=True, help="Let the judge drop triplets that are made badly."
    )
    @click.option("--save-triplets", "save", type=_OUT, help="Keep the triplets that were made, for --triplets.")
    @click.option("--csv", type=_OUT, help="Write all figures as CSV.")
    @click.option("--heat-map", type=_OUT, help=f"Draw relation by metric ({', '.join(_PICTURES)}).")
    @click.option("--details", is_flag=True, help="Print intervals, ties and distances as well.")
    @click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
    @config_option
    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        output = FigureOutput(**{name: given.pop(name) for name in ("csv", "heat_map", "details", "as_json")})
        if output.heat_map is not None and output.heat_map.suffix not in _PICTURES:
            raise WrongUse(f"--heat-map {output.heat_map}: a picture's name ends in {', '.join(_PICTURES)}")
        names = ("triplets", "texts", "text_field", "relations", "limit", "seed", "gate", "save")
        parts = {name: given.pop(name) for name in names}
        command(source=_source(columns=_columns(given.pop("columns")), **parts), output=output, **given)

    return wrapped


@audit.command(short_help="Embedding models and text matchers, by relation and metric.")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=click.Choice(METRICS),
    help="How vectors are compared; all seven without it.",
)
@click.option(
    "--matcher",
    "matchers",
    multiple=True,
    metavar="MATCHER",
    help="A text matcher to audit too: judge (the configured one), local (the local judge) or cross-encoder:NAME.",
)
@_audit_options
def embeddings(
    *,
    models: tuple[str, ...],
    metrics: tuple[str, ...],
    matchers: tuple[str, ...],
    source: TripletSource,
    output: FigureOutput,
    config_file: Path | None,
) -> None:
    """Count how often each MODEL finds the text that means the same closer than one that only looks the same.

    MODEL is the name or the folder of a sentence-transformers model, `bundled` for that of the local judge, or
    openai:NAME for one behind the endpoint in judge.base_url. Each sentence is encoded once, whatever the number of
    metrics. Beneath each accuracy stands the control: the same texts, and the neighbour's positive where the negative
    was.
    """
    if not models and not matchers:
        raise WrongUse("name a MODEL or a --matcher to audit")
    configured = configuration(config_file)
    quiet_logs()
    named = cast("tuple[Metric, ...]", metrics) or METRICS
    with _errors():
        from lab.audit.runs import EmbeddingModels, audit_matcher, audit_models, check_matchers

        check_matchers(matchers)
        embedding_models = EmbeddingModels(models, configured.judge)
        triplets = asyncio.run(gather(source, configured))
        _say_notes(triplets)
        with _put_out(output, triplets) as figures:
            figures.extend(audit_models(embedding_models, triplets, tuple(dict.fromkeys(named))))
            for name in dict.fromkeys(matchers):
                figures.extend(asyncio.run(audit_matcher(name, triplets, configured)))


@audit.command(
    short_help="Vector stores, by relation.",
    help="Count how often each store at a URL names the text that means the same, and not the one that only looks the "
    "same, when it is asked for the one nearest to the base.\n\n"
    "Every case has a fresh collection with the two candidates in it, and is asked with k = 1. Collections have names "
    "of their own and are removed, after an error too; what is in a store is neither read nor changed.\n\n"
    f"\b\nURLs, and the metrics of each store:\n{_FORMS}",
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--model",
    default="bundled",
    show_default=True,
    help="What makes the vectors: a sentence-transformers model by name or folder, `bundled`, or openai:NAME.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=click.Choice(get_args(StoreMetric)),
    default=("cosine",),
    show_default=True,
    help="How the stores compare vectors; may be given several times.",
)
@_audit_options
def store(
    *,
    urls: tuple[str, ...],
    model: str,
    metrics: tuple[str, ...],
    source: TripletSource,
    output: FigureOutput,
    config_file: Path | None,
) -> None:
    """Audit the stores."""
    configured = configuration(config_file)
    quiet_logs()
    named = [cast("StoreMetric", metric) for metric in dict.fromkeys(metrics)]
    with _errors(), _sigterm_as_interrupt():
        addresses = [read_address(url) for url in dict.fromkeys(urls)]
        from lab.audit.encoding import encoded
        from lab.audit.runs import EmbeddingModels, audit_stores, check_stores

        check_stores(addresses, named)
        embedder = EmbeddingModels((model,), configured.judge).get(model)
        # Some take only so many dimensions.
        check_stores(addresses, named, dimension=encoded(embedder, ["a text"]).vectors.shape[1])
        triplets = asyncio.run(gather(source, configured))
        _say_notes(triplets)
        with _put_out(output, triplets) as figures:
            figures.extend(audit_stores(addresses, embedder, triplets, named))


@contextmanager
def _errors() -> Iterator[None]:
    """Turn what an audit raises for a user's mistake or a missing service into a message and the exit status."""
    from models.model_loading import without_bars

    without_bars()
    with run_errors(CannotAudit, BadTriplets):
        try:
            yield
        except AuditFailed as error:
            raise NotFinished(str(error)) from None
        except ImportError as error:
            raise WrongUse(f"a package is missing ({error}); audits need `pip install 'assay[audit,local]'`") from None


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Meanwhile SIGTERM ends the program as Ctrl-C does, so that nothing of ours stays in a store."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say_notes(triplets: AuditTriplets) -> None:
    for note in triplets.notes:
        click.echo(note, err=True)


@contextmanager
def _put_out(output: FigureOutput, triplets: AuditTriplets) -> Iterator[list[Figure]]:
    """Figures to be collected, which are printed and written as was asked for in the end.

    Also if a later one failed: the others may have worked for hours.

    Raises:
        CannotAudit: a package for the picture is missing.
        OSError: a file cannot be written.
    """
    figures: list[Figure] = []
    try:
        yield figures
    finally:
        if figures:
            _print_and_write(output, triplets, figures)


def _print_and_write(output: FigureOutput, triplets: AuditTriplets, figures: Sequence[Figure]) -> None:
    from lab.audit.report import print_figures, write_csv

    # Printed first: a file that cannot be written must not lose the figures.
    try:
        print_figures(figures, triplets.notes, details=output.details, as_json=output.as_json)
    finally:
        if output.csv is not None:
            write_csv(output.csv, figures)
        if output.heat_map is not None:
            from lab.audit.heat_map import draw

            draw(figures, output.heat_map)


def _source(
    *, triplets: tuple[Path, ...], texts: Path | None, relations: tuple[str, ...], **others: Any
) -> TripletSource:
    if bool(triplets) == (texts is not None):
        raise WrongUse("either --triplets or --texts says what to audit with, and not both")
    if texts is None:
        for option, given in (("--text-field", others["text_field"]), ("--save-triplets", others["save"])):
            if given is not None:
                raise WrongUse(f"{option} is for --texts")
    elif unmade := [relation for relation in relations if relation not in MADE]:
        raise WrongUse(f"--relation {unmade[0]}: no triplets can be made of it; allowed are {', '.join(MADE)}")
    named = tuple(relation_named(name) for name in dict.fromkeys(relations))
    return TripletSource(triplets=triplets, texts=texts, relations=named, **others)


def _columns(given: tuple[str, ...]) -> Columns:
    named: dict[str, tuple[str, ...]] = {}
    for one in given:
        field, _, name = one.partition("=")
        if field not in COLUMNS or not name:
            raise WrongUse(f"--column {one!r}: expected FIELD=NAME with one of {', '.join(COLUMNS)}")
        named[field] = (name,)
    return {**COLUMNS, **named}
