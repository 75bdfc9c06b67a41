"""`assay audit`: embedding models and vector stores, tried on texts that only look the same."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from assay.cli.common import WrongUse, config_option, configuration, print_figures, progress, quiet_logs, run_errors
from checkers.wording import plain
from lab.audit.cases import METRICS, Figure, Groups, all_cases
from lab.audit.relations import RELATIONS
from lab.audit.stores import STORES, StoreMetric, open_store, without_password

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.audit.embedding import Embedder, Encodings
    from lab.audit.source import TripletSource

_PICTURES = (".png", ".svg", ".pdf")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)
_STORES = "\n".join(f"  {one.form:<28} {', '.join(one.spaces)}" for one in STORES)


@click.group(short_help="False matches of embedding models and vector stores.")
def audit() -> None:
    """Try what matches texts on triplets of a base, a text that means the same and one that only looks the same.

    Whatever matches texts should find the first of the two closer to the base.
    """


_COMMON = (
    click.option("--triplets", multiple=True, type=_FILE, help="Triplets as JSON lines; may be given several times."),
    click.option("--texts", type=_FILE, help="Texts of yours, one a line, to make triplets of through the judge."),
    click.option("--relation", "relations", multiple=True, type=click.Choice(RELATIONS), help="Only these relations."),
    click.option("--limit", type=click.IntRange(min=1), default=5000, show_default=True,
                 help="Take at most so many triplets of each relation, or texts."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed for what is drawn in making triplets."),
    click.option("--save-triplets", "save", type=_OUT, help="Keep the triplets that were made, for --triplets."),
    click.option("--heat-map", type=_OUT, help=f"Draw relation by metric ({', '.join(_PICTURES)})."),
    click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON."),
    config_option,
)  # fmt: skip


def _common_options(command: Callable[..., None]) -> Callable[..., None]:
    """The origin of the triplets, the destination of the figures, and the configuration file."""
    for option in reversed(_COMMON):
        command = option(command)
    return command


@audit.command(short_help="Embedding models, by relation and metric.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--metric", "metrics", multiple=True, type=click.Choice(METRICS), default=METRICS,
              help="How vectors are compared; all seven without it.")  # fmt: skip
@_common_options
def embeddings(models: tuple[str, ...], metrics: tuple[Any, ...], **given: Any) -> None:
    """Count how often each MODEL finds the text that means the same closer than one that only looks the same.

    MODEL is the name or the folder of a sentence-transformers model, `bundled` for that of the local judge, or
    openai:NAME for one behind the endpoint in judge.base_url. Each sentence is encoded once, whatever the number of
    metrics. Beneath each accuracy stands the control: the same texts, and the neighbour's positive where the negative
    was.
    """
    with _prepared(given) as (configured, source):
        from lab.audit.embedding import embedder
        from lab.audit.measuring import embedding_figures

        for name in models:
            # A wrong name shows before a judge is paid, or other models have worked for hours.
            embedder(name, configured.judge)

        def figures(groups: Groups) -> Iterator[Figure]:
            for name in dict.fromkeys(models):
                # One model is in memory at a time.
                model = embedder(name, configured.judge)
                encodings = _encoded(model, groups)
                yield from embedding_figures(model.name, encodings, groups, tuple(dict.fromkeys(metrics)))

        _audit(configured, source, given, figures)


@audit.command(
    short_help="Vector stores, by relation.",
    help="Count how often each STORE names the text that means the same, and not the one that only looks the same, "
    "when it is asked for the one nearest to the base.\n\n"
    "Every case has the two candidates alone in a collection, and is asked with k = 1. What is in a store is neither "
    "read nor changed.\n\n"
    f"\b\nStores, and the metrics of each:\n{_STORES}",
)
@click.argument("stores", nargs=-1, required=True, metavar="STORE...")
@click.option("--model", default="bundled", show_default=True,
              help="A sentence-transformers model by name or folder, `bundled`, or openai:NAME.")  # fmt: skip
@click.option("--metric", "metrics", multiple=True, type=click.Choice(get_args(StoreMetric)), default=("cosine",),
              show_default=True, help="How the stores compare vectors; may be given several times.")  # fmt: skip
@_common_options
def store(stores: tuple[str, ...], model: str, metrics: tuple[Any, ...], **given: Any) -> None:
    """Audit the stores."""
    asked = [(name, metric) for name in dict.fromkeys(stores) for metric in dict.fromkeys(metrics)]
    with _prepared(given) as (configured, source):
        from lab.audit.embedding import embedder, encoded
        from lab.audit.measuring import store_figures

        vectors = embedder(model, configured.judge)
        (sample,) = encoded(vectors, ["a text"]).vectors
        for name, metric in asked:
            # What is wrong shows before any work is done.
            with open_store(name, metric=metric, dimension=len(sample)) as opened:
                opened(sample[None, :], sample)

        def figures(groups: Groups) -> Iterator[Figure]:
            encodings = _encoded(vectors, groups)
            for name, metric in asked:
                shown, total = without_password(name), len(all_cases(groups))
                with (
                    open_store(name, metric=metric, dimension=len(sample)) as opened,
                    _counted(f"{plain(shown)} by {metric}", total, "cases") as count,
                ):
                    yield from store_figures(shown, opened, metric, encodings, groups, on_case=count)

        _audit(configured, source, given, figures)


@contextmanager
def _prepared(given: dict[str, Any]) -> Iterator[tuple["Configuration", "TripletSource"]]:
    """Turn a user's mistake or a missing service into a message and the exit status; yields what the options say."""
    picture = given["heat_map"]
    if picture is not None and picture.suffix not in _PICTURES:
        raise WrongUse(f"--heat-map {picture}: a picture's name ends in {', '.join(_PICTURES)}")
    configured = configuration(given.pop("config_file"))
    quiet_logs()
    from models.model_loading import without_bars

    without_bars()
    with run_errors():
        yield configured, _source(given)


def _audit(
    configured: "Configuration",
    source: "TripletSource",
    given: dict[str, Any],
    audited: Callable[[Groups], Iterator[Figure]],
) -> None:
    """Collect the figures, and put them out as was asked for; also if a later one failed, for hours may be in them."""
    from lab.audit.source import gather
    from lab.report import AuditFigures, draw

    groups, notes = asyncio.run(gather(source, configured))
    for note in notes:
        click.echo(note, err=True)
    figures: list[Figure] = []
    try:
        # Those before an error stay.
        figures.extend(audited(groups))
    finally:
        if figures:
            # Printed first: a file that cannot be written must not lose the figures.
            print_figures(AuditFigures(figures, notes), as_json=given["as_json"])
            if given["heat_map"] is not None:
                draw(figures, given["heat_map"])


def _source(given: dict[str, Any]) -> "TripletSource":
    from lab.audit.source import MADE, TripletSource

    if bool(given["triplets"]) == (given["texts"] is not None):
        raise WrongUse("either --triplets or --texts says what to audit with, and not both")
    if given["texts"] is None and given["save"] is not None:
        raise WrongUse("--save-triplets is for --texts")
    unmade = [relation for relation in given["relations"] if relation not in MADE]
    if given["texts"] is not None and unmade:
        raise WrongUse(f"--relation {unmade[0]}: no triplets can be made of it; allowed are {', '.join(MADE)}")
    return TripletSource(**{name: given[name] for name in TripletSource.__slots__})


def _encoded(model: "Embedder", groups: Groups) -> "Encodings":
    """The vectors of all sentences that an audit needs."""
    from lab.audit.embedding import EndpointModel, encoded

    sentences, title = {text for case in all_cases(groups) for text in case}, plain(model.name)
    with _counted(title, len(sentences), "sentences") as count:
        found = encoded(model, sentences, count)
    if isinstance(model, EndpointModel):
        click.echo(f"{title}: {model.calls} calls, {model.tokens} tokens", err=True)
    return found


@contextmanager
def _counted(title: str, total: int, things: str) -> Iterator[Callable[..., None]]:
    """Show the progress; yields a callable that takes how many more things are done, one by default."""
    with progress(total) as shown:
        done = 0

        def count(more: int = 1) -> None:
            nonlocal done
            done += more
            shown.at(done, f"{title}: {done} of {total} {things}")

        yield count
