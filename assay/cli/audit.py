"""`assay audit`: what matches texts, tried on texts that look the same and mean different things."""

import importlib

import click

_COMMANDS = {"embeddings": "assay.cli.audit_embeddings", "store": "assay.cli.audit_store"}


class _Audits(click.Group):
    """Reads a command's module when the command is named: the other commands start without."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(_COMMANDS[cmd_name]), cmd_name)
        return command


@click.group(cls=_Audits, short_help="False matches of embedding models, stores and text matchers.")
def audit() -> None:
    """Try what matches texts on triplets of a base, a text that means the same and one that only looks the same.

    Whatever matches texts should find the first of the two closer to the base.
    """
