"""`assay demo`: the main job, with nothing to install, configure or pay for."""

import asyncio

import click

from assay.cli.failures import NotFinished, told


@click.command(short_help="The main job on samples: no Kafka, no key.")
@click.option("--follow", is_flag=True, help="Stay afterwards, and take more records until Ctrl-C.")
def demo(follow: bool) -> None:
    """Check sample records on the embedded broker with the local judge: no Kafka, no key, no configuration.

    What is in assay.toml and in ASSAY_ variables does not count here.
    """
    click.echo("loading assay…")
    from assay.demo.quiet import quiet

    with told(), quiet("info") as log:
        from assay.demo.running import run_demo
        from streams.errors import ExtraMissing, StreamError

        try:
            missing = asyncio.run(run_demo(follow=follow, say=click.echo))
        except ExtraMissing:
            raise
        except StreamError as error:
            raise NotFinished(f"{error}; the worker's log: {log}") from None
        if missing:
            raise NotFinished(f"no verdict in time for {', '.join(missing)}; the worker's log: {log}")
