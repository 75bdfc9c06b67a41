"""Audit of what matches texts: whether it finds the text that means the same, or one that only looks the same.

After MeTMaP (arXiv 2402.14480), which is "the paper" here.
"""

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
"""The metamorphic relations by which two texts look alike and mean different things (paper, section 3.2)."""

RELATIONS: tuple[Relation, ...] = get_args(Relation)

MADE: tuple[Relation, ...] = RELATIONS[:-1]  # the relations that triplets can be made of

Metric = Literal["cosine", "euclidean", "manhattan", "pearson", "bray_curtis", "lance_williams", "mahalanobis"]
"""The distances between vectors that the paper measures by."""

METRICS: tuple[Metric, ...] = get_args(Metric)

StoreMetric = Literal["cosine", "euclidean", "inner_product"]
"""A store's way of comparing vectors; the nearest has the smallest distance, or the largest inner product."""

STORE_METRICS: tuple[StoreMetric, ...] = get_args(StoreMetric)
