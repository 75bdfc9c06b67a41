"""Options that commands over files share."""

from pathlib import Path

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="What all draws are made of.")
out_option = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a line for each result; resumable."
)
