"""Built-in cases of the questions to a subject, and to the writer about replacements."""

from collections.abc import Iterator
from functools import partial

from checkers.extraction.questions import EntitiesReply, ExtractionPrompts, OthersReply
from checkers.form_test import FormCase

_MOVED = "Milda Vasquez moved from Tarsk to Oberwald in 1987."
_ENTITIES = {
    _MOVED: {"Milda Vasquez", "Tarsk", "Oberwald"},
    "The brig Corvina belongs to Haldane Shipping.": {"Corvina", "Haldane Shipping"},
}


def form_cases(method: str) -> Iterator[FormCase]:
    """Lists of entities, and names that may take their places."""
    prompts = ExtractionPrompts()
    for text, names in _ENTITIES.items():
        yield FormCase(method, "subject", prompts.entities(text), partial(_has_all, names))
    for name, kind in (("Milda Vasquez", "person"), ("Tarsk", "town")):
        yield FormCase(method, "writer", prompts.others(_MOVED, name, kind, named=True), partial(_are_others, name))


def _has_all(names: set[str], reply: EntitiesReply) -> bool:
    return names <= {one.entity for one in reply.entities}


def _are_others(name: str, reply: OthersReply) -> bool:
    return len({one for one in reply.others if name not in one}) > 1
