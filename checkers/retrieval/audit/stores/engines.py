"""Which stores there are: what each is called, installed as, able to compare by, and where it can be."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from checkers.retrieval.audit.stores.store import StoreMetric

EngineName = Literal["annoy", "chroma", "faiss", "hnswlib", "pgvector", "qdrant"]
Index = Literal["flat", "hnsw"]
"""`flat` compares with every vector; `hnsw` is an approximate graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One kind of store; the extra is named as it is."""

    name: EngineName
    metrics: tuple[StoreMetric, ...]
    forms: tuple[str, ...]
    """Its addresses, for a person."""

    @property
    def install(self) -> str:
        """The command that installs its library."""
        return f"pip install 'assay[{self.name}]'"


ENGINES: MappingProxyType[EngineName, Engine] = MappingProxyType(
    {
        engine.name: engine
        for engine in (
            Engine(
                name="chroma",
                metrics=("cosine", "euclidean", "inner_product"),
                forms=("chroma:", "chroma:FOLDER", "chroma+http://HOST:PORT"),
            ),
            Engine(
                name="annoy",
                metrics=("cosine", "euclidean", "manhattan", "inner_product"),
                forms=("annoy:",),
            ),
            Engine(
                name="faiss",
                metrics=("cosine", "euclidean", "manhattan", "inner_product", "bray_curtis", "lance_williams"),
                forms=("faiss:flat", "faiss:hnsw"),
            ),
            Engine(
                name="hnswlib",
                metrics=("cosine", "euclidean", "inner_product"),
                forms=("hnswlib:",),
            ),
            Engine(
                name="qdrant",
                metrics=("cosine", "euclidean", "manhattan", "inner_product"),
                forms=("qdrant:", "qdrant:FOLDER", "qdrant+http://HOST:PORT"),
            ),
            Engine(
                name="pgvector",
                metrics=("cosine", "euclidean", "manhattan", "inner_product"),
                forms=("postgresql://HOST/DATABASE", "postgresql+hnsw://HOST/DATABASE"),
            ),
        )
    }
)
