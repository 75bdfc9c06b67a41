"""Trust in labels without reference labels: the No-Data Algorithm."""

from checkers.labelling.plugin import PLUGIN

__all__ = ["PLUGIN"]
