"""`assay audit store`: vector stores over triplets."""

import asyncio
from pathlib import Path
from typing import cast, get_args

import click

from assay.audit.source import Source, gather
from assay.cli.audit_options import Output, audit_told, output_options, put_out, say_notes, source_options
from assay.cli.failures import NotFinished, WrongUse
from assay.cli.options import config_option, configuration, quiet_logs
from checkers.retrieval.audit.stores import (
    ENGINES,
    StoreExtraMissing,
    StoreFailed,
    StoreMetric,
    UnsupportedMetric,
    WrongAddress,
    read_address,
    require_metric,
)

_FORMS = "\n".join(f"  {form:<34} {', '.join(engine.metrics)}" for engine in ENGINES.values() for form in engine.forms)


@click.command(
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
@source_options
@output_options
@config_option
def store(
    *,
    urls: tuple[str, ...],
    model: str,
    metrics: tuple[str, ...],
    source: Source,
    output: Output,
    config_file: Path | None,
) -> None:
    """Audit the stores."""
    loaded = configuration(config_file)
    quiet_logs()
    asked = [cast("StoreMetric", metric) for metric in dict.fromkeys(metrics)]
    with audit_told():
        try:
            addresses = [read_address(url) for url in dict.fromkeys(urls)]
            for address in addresses:
                for metric in asked:
                    require_metric(address.engine, metric)
        except (WrongAddress, UnsupportedMetric) as error:
            raise WrongUse(str(error)) from None
        from assay.audit.embedding_run import Models
        from assay.audit.stores import audit_stores, check_stores, ended_in_order
        from checkers.oracle.local.encoder import ModelUnusable
        from checkers.retrieval.audit.encoding import EndpointAway, encoded

        try:
            with ended_in_order():
                check_stores(addresses, asked)
                embedder = Models((model,), loaded.judge).get(model)
                # Some take only so many dimensions.
                check_stores(addresses, asked, dimension=encoded(embedder, ["a text"]).vectors.shape[1])
                material = asyncio.run(gather(source, loaded))
                say_notes(material)
                figures = audit_stores(addresses, embedder, material, asked)
        except (WrongAddress, StoreExtraMissing, ModelUnusable) as error:
            raise WrongUse(str(error)) from None
        except (StoreFailed, EndpointAway) as error:
            raise NotFinished(str(error)) from None
        put_out(output, material, figures)
