"""What the distances between vectors are called."""

from typing import Literal, get_args

Metric = Literal["cosine", "euclidean", "manhattan", "pearson", "bray_curtis", "lance_williams", "mahalanobis"]

METRICS: tuple[Metric, ...] = get_args(Metric)
