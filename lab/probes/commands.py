"""`assay probes`: what is done with statements beside the stream."""

import click

from lab.link.command import build, expand
from lab.probes.command import run


@click.group(short_help="Statements about common and rare facts.", commands=[build, expand, run])
def probes() -> None:
    """Make statements about common and rare facts from logic rules, and ask models about them."""
