"""A cross-encoder of sentence-transformers that matches texts: it grades, as a judge in this process does."""

from functools import partial
from importlib.util import find_spec

from checkers.oracle.local_grader import ClaimModel, LocalGrader


def cross_encoder_grader(path: str) -> LocalGrader:
    """The cross-encoder of a name or path, loaded with the first claims; raises ImportError without its library."""
    if find_spec("sentence_transformers") is None:
        raise ImportError("sentence-transformers, which a cross-encoder needs, is not installed")
    name = f"cross-encoder/{path}"
    return LocalGrader(name, partial(_load, path), called=name)


def _load(path: str) -> ClaimModel:
    from checkers.retrieval.matching.pair_model import load_pair_model

    return load_pair_model(path)
