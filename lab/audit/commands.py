"""`assay audit`: embedding models, vector stores and text matchers, tried on texts that only look the same."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from assay.cli.front_door import WrongUse, config_option, configuration, quiet_logs, run_errors
from checkers.retrieval.relations import RELATIONS
from lab.audit.cases import METRICS, Figure
from lab.audit.stores.address import ENGINES, StoreMetric, read_address
from lab.triplets import COLUMNS, Columns, relation_named

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.audit.source import AuditTriplets, TripletSource

_PICTURES = (".png", ".svg", ".pdf")
_MATCHERS = "judge (the configured one) and local (the local judge)"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)
_FORMS = "\n".join(f"  {form:<34} {', '.join(engine.spaces)}" for engine in ENGINES.values() for form in engine.forms)
_FIELDS = ", ".join(COLUMNS)


@click.group(short_help="False matches of embedding models, stores and text matchers.")
def audit() -> None:
    """Try what matches texts on triplets of a base, a text that means the same and one that only looks the same.

    Whatever matches texts should find the first of the two closer to the base.
    """


_COMMON = (
    click.option("--triplets", multiple=True, type=_FILE, help="Triplets as JSON lines; may be given several times."),
    click.option("--column", "columns", multiple=True, metavar="FIELD=NAME",
                 help=f"What a field is called in the files; the fields are {_FIELDS}."),
    click.option("--texts", type=_FILE, help="Texts of yours, one a line, to make triplets of through the judge."),
    click.option("--text-field", metavar="NAME", help="The texts are JSON lines, and stand in this field."),
    click.option("--relation", "relations", multiple=True, type=click.Choice(RELATIONS), help="Only these relations."),
    click.option("--limit", type=click.IntRange(min=1), default=5000, show_default=True,
                 help="Take at most so many triplets of each relation, or texts."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed for what is drawn in making triplets."),
    click.option("--gate/--no-gate", default=True, show_default=True,
                 help="Let the judge drop triplets that are made badly."),
    click.option("--save-triplets", "save", type=_OUT, help="Keep the triplets that were made, for --triplets."),
    click.option("--csv", type=_OUT, help="Write all figures as CSV."),
    click.option("--heat-map", type=_OUT, help=f"Draw relation by metric ({', '.join(_PICTURES)})."),
    click.option("--details", is_flag=True, help="Print intervals, ties and distances as well."),
    click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON."),
    config_option,
)  # fmt: skip


def _common_options(command: Callable[..., None]) -> Callable[..., None]:
    """The origin of the triplets, the destination of the figures, and the configuration file."""
    for option in reversed(_COMMON):
        command = option(command)
    return command


@audit.command(short_help="Embedding models and text matchers, by relation and metric.")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--metric", "metrics", multiple=True, type=click.Choice(METRICS),
              help="How vectors are compared; all seven without it.")  # fmt: skip
@click.option("--matcher", "matchers", multiple=True, metavar="MATCHER",
              help=f"A text matcher to audit too: {_MATCHERS}.")  # fmt: skip
@_common_options
def embeddings(models: tuple[str, ...], metrics: tuple[Any, ...], matchers: tuple[str, ...], **given: Any) -> None:
    """Count how often each MODEL finds the text that means the same closer than one that only looks the same.

    MODEL is the name or the folder of a sentence-transformers model, `bundled` for that of the local judge, or
    openai:NAME for one behind the endpoint in judge.base_url. Each sentence is encoded once, whatever the number of
    metrics. Beneath each accuracy stands the control: the same texts, and the neighbour's positive where the negative
    was.
    """
    if not models and not matchers:
        raise WrongUse("name a MODEL or a --matcher to audit")
    for name in matchers:
        if name not in ("judge", "local"):
            cross = "; for a cross-encoder set judge.local.judge = 'nli:NAME' and give --matcher judge"
            raise WrongUse(f"--matcher {name!r}: allowed are {_MATCHERS}{cross if ':' in name else ''}")
    with _errors(given) as (configured, source):
        from lab.audit.encoding import embedder
        from lab.audit.runs import audit_matcher, audit_models

        names = tuple(dict.fromkeys(models))
        for name in names:
            # A wrong name shows before a judge is paid, or other models have worked for hours.
            embedder(name, configured.judge)

        def figures(triplets: "AuditTriplets") -> Iterator[Figure]:
            yield from audit_models(names, configured.judge, triplets, tuple(dict.fromkeys(metrics)) or METRICS)
            for name in dict.fromkeys(matchers):
                yield from asyncio.run(audit_matcher(name, triplets, configured))

        _audit(configured, source, given, figures)


@audit.command(
    short_help="Vector stores, by relation.",
    help="Count how often each store at a URL names the text that means the same, and not the one that only looks the "
    "same, when it is asked for the one nearest to the base.\n\n"
    "Every case has the two candidates alone in a collection, and is asked with k = 1. Collections have names of their "
    "own and are removed, after an error too; what is in a store is neither read nor changed.\n\n"
    f"\b\nURLs, and the metrics of each store:\n{_FORMS}",
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--model", default="bundled", show_default=True,
              help="A sentence-transformers model by name or folder, `bundled`, or openai:NAME.")  # fmt: skip
@click.option("--metric", "metrics", multiple=True, type=click.Choice(get_args(StoreMetric)), default=("cosine",),
              show_default=True, help="How the stores compare vectors; may be given several times.")  # fmt: skip
@_common_options
def store(urls: tuple[str, ...], model: str, metrics: tuple[Any, ...], **given: Any) -> None:
    """Audit the stores."""
    named = tuple(dict.fromkeys(metrics))
    with _errors(given) as (configured, source), _sigterm_as_interrupt():
        addresses = [read_address(url) for url in dict.fromkeys(urls)]
        from lab.audit.encoding import embedder, encoded
        from lab.audit.runs import audit_stores, check_stores

        check_stores(addresses, named)
        vectors = embedder(model, configured.judge)
        # Some take only so many dimensions.
        check_stores(addresses, named, dimension=encoded(vectors, ["a text"]).vectors.shape[1])
        _audit(configured, source, given, lambda triplets: audit_stores(addresses, vectors, triplets, named))


@contextmanager
def _errors(given: dict[str, Any]) -> Iterator[tuple["Configuration", "TripletSource"]]:
    """Turn a user's mistake or a missing service into a message and the exit status; yields what the options say."""
    picture = given["heat_map"]
    if picture is not None and picture.suffix not in _PICTURES:
        raise WrongUse(f"--heat-map {picture}: a picture's name ends in {', '.join(_PICTURES)}")
    columns = _columns(given.pop("columns"))
    configured = configuration(given.pop("config_file"))
    quiet_logs()
    from models.model_loading import without_bars

    without_bars()
    with run_errors():
        try:
            yield configured, _source(columns, given)
        except ImportError as error:
            raise WrongUse(f"a package is missing ({error}); audits need `pip install 'assay[audit,local]'`") from None


def _audit(
    configured: "Configuration",
    source: "TripletSource",
    given: dict[str, Any],
    audited: Callable[["AuditTriplets"], Iterator[Figure]],
) -> None:
    """Collect the figures, and put them out as was asked for; also if a later one failed, for hours may be in them."""
    from lab.audit.report import print_figures, write_csv
    from lab.audit.source import gather

    triplets = asyncio.run(gather(source, configured))
    for note in triplets.notes:
        click.echo(note, err=True)
    figures: list[Figure] = []
    try:
        # Those before an error stay.
        figures.extend(audited(triplets))
    finally:
        if figures:
            # Printed first: a file that cannot be written must not lose the figures.
            print_figures(figures, triplets.notes, details=given["details"], as_json=given["as_json"])
            if given["csv"] is not None:
                write_csv(given["csv"], figures)
            if given["heat_map"] is not None:
                from lab.audit.heat_map import draw

                draw(figures, given["heat_map"])


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


def _source(columns: Columns, given: dict[str, Any]) -> "TripletSource":
    from lab.audit.source import MADE, TripletSource

    if bool(given["triplets"]) == (given["texts"] is not None):
        raise WrongUse("either --triplets or --texts says what to audit with, and not both")
    if given["texts"] is None:
        for option, name in (("--text-field", "text_field"), ("--save-triplets", "save")):
            if given[name] is not None:
                raise WrongUse(f"{option} is for --texts")
    elif unmade := [relation for relation in given["relations"] if relation not in MADE]:
        raise WrongUse(f"--relation {unmade[0]}: no triplets can be made of it; allowed are {', '.join(MADE)}")
    relations = tuple(relation_named(name) for name in dict.fromkeys(given["relations"]))
    names = ("triplets", "texts", "text_field", "limit", "seed", "gate", "save")
    return TripletSource(columns=columns, relations=relations, **{name: given[name] for name in names})


def _columns(given: tuple[str, ...]) -> Columns:
    named: dict[str, tuple[str, ...]] = {}
    for one in given:
        field, _, name = one.partition("=")
        if field not in COLUMNS or not name:
            raise WrongUse(f"--column {one!r}: expected FIELD=NAME with one of {_FIELDS}")
        named[field] = (name,)
    return {**COLUMNS, **named}
