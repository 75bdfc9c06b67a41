"""`assay audit embeddings`: embedding models and text matchers over triplets."""

import asyncio
from pathlib import Path
from typing import cast

import click

from assay.audit.source import Source, gather
from assay.cli.audit_options import Output, audit_told, output_options, put_out, say_notes, source_options
from assay.cli.failures import NotFinished, WrongUse
from assay.cli.options import config_option, configuration, quiet_logs
from checkers.retrieval.audit.cases import METRICS, Figure, Metric


@click.command(short_help="Embedding models and text matchers, by relation and metric.")
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
@source_options
@output_options
@config_option
def embeddings(
    *,
    models: tuple[str, ...],
    metrics: tuple[str, ...],
    matchers: tuple[str, ...],
    source: Source,
    output: Output,
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
    loaded = configuration(config_file)
    quiet_logs()
    named = cast("tuple[Metric, ...]", metrics) or METRICS
    with audit_told():
        from assay.audit.embedding_run import Models, audit_models
        from assay.audit.matcher_run import audit_matchers, check_matchers
        from checkers.oracle.local.encoder import ModelUnusable
        from checkers.retrieval.audit.encoding import EndpointAway

        check_matchers(matchers)
        figures: list[Figure] = []
        try:
            embedders = Models(models, loaded.judge)
            material = asyncio.run(gather(source, loaded))
            say_notes(material)
            try:
                audit_models(embedders, material, tuple(dict.fromkeys(named)), figures.extend)
                if matchers:
                    asyncio.run(audit_matchers(tuple(dict.fromkeys(matchers)), material, loaded, figures.extend))
            finally:
                # Also where a later one failed: the others may have worked for hours.
                if figures:
                    put_out(output, material, figures)
        except ModelUnusable as error:
            raise WrongUse(str(error)) from None
        except EndpointAway as error:
            raise NotFinished(str(error)) from None
