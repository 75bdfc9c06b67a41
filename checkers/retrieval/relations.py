"""The metamorphic relations by which two texts look alike and mean different things (paper, section 3.2)."""

from typing import Literal, get_args

Relation = Literal[
    "word_swap",
    "object_substitution",
    "action_substitution",
    "negative_expression",
    "word_deletion",
    "quantifier_substitution",
    "back_translation_error",
    "inference_error",
    "other",
]

RELATIONS: tuple[Relation, ...] = get_args(Relation)

WORD_LEVEL: tuple[Relation, ...] = RELATIONS[:6]
"""Those that change single words."""
