"""Addresses of stores, as users write them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import SplitResult, urlsplit

from lab.audit.cases import CannotAudit

EngineName = Literal["annoy", "chroma", "faiss", "hnswlib", "pgvector", "qdrant"]
Index = Literal["flat", "hnsw"]
"""`flat` compares with every vector; `hnsw` is an approximate graph."""

StoreMetric = Literal["cosine", "euclidean", "manhattan", "inner_product", "bray_curtis", "lance_williams"]
"""How a store compares vectors; the nearest has the smallest distance, or the largest inner product."""

KEYS: dict[EngineName, str] = {"chroma": "CHROMA_API_KEY", "qdrant": "QDRANT_API_KEY"}
"""The environment variables that by custom hold the keys."""

_PORTS: dict[EngineName, int] = {"chroma": 8000, "qdrant": 6333}
_SECURE_PORT = 443


class WrongAddress(CannotAudit):
    """No store has such an address."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of store; the extra of the package is named as it is."""

    name: EngineName
    metrics: tuple[StoreMetric, ...]
    forms: tuple[str, ...]
    """Its addresses, for a person."""

    @property
    def install(self) -> str:
        """The command that installs its library."""
        return f"pip install 'assay[{self.name}]'"


_COMMON: tuple[StoreMetric, ...] = ("cosine", "euclidean", "manhattan", "inner_product")
_WITHOUT_MANHATTAN: tuple[StoreMetric, ...] = ("cosine", "euclidean", "inner_product")

ENGINES: dict[EngineName, Engine] = {
    engine.name: engine
    for engine in (
        Engine("chroma", _WITHOUT_MANHATTAN, ("chroma:", "chroma:FOLDER", "chroma+http://HOST:PORT")),
        Engine("annoy", _COMMON, ("annoy:",)),
        Engine("faiss", (*_COMMON, "bray_curtis", "lance_williams"), ("faiss:flat", "faiss:hnsw")),
        Engine("hnswlib", _WITHOUT_MANHATTAN, ("hnswlib:",)),
        Engine("qdrant", _COMMON, ("qdrant:", "qdrant:FOLDER", "qdrant+http://HOST:PORT")),
        Engine("pgvector", _COMMON, ("postgresql://HOST/DATABASE", "postgresql+hnsw://HOST/DATABASE")),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a store answers over HTTP."""

    host: str
    port: int
    secure: bool = False
    path: str = ""
    """What follows the port, without slashes at its ends."""

    @property
    def url(self) -> str:
        """The address without the path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Which store, and where; in memory where neither a folder, a server nor a database is given."""

    engine: Engine
    shown: str
    """For a person: as it was written, without a password."""
    index: Index | None = None
    folder: Path | None = None
    server: Server | None = None
    database: str | None = None
    """A PostgreSQL address as its client library takes it; it may hold a password."""


def read_address(text: str) -> Address:
    """The store that an address names.

    Raises:
        WrongAddress: it names none; the message says what is allowed.
    """
    scheme, _, variant = text.partition(":")[0].lower().partition("+")
    if scheme in {"postgresql", "postgres"} and "://" in text:
        return _postgresql(text, variant)
    engine = next((engine for engine in ENGINES.values() if engine.name == scheme and scheme != "pgvector"), None)
    if engine is None or ":" not in text:
        forms = ", ".join(form for engine in ENGINES.values() for form in engine.forms)
        raise WrongAddress(f"{without_password(text)!r} is no address of a store; allowed are {forms}")
    try:
        parts = urlsplit(text)
    except ValueError:
        _refuse(engine, text)
    if variant in {"http", "https"} and engine.name in _PORTS:
        return _server(engine, text, parts)
    if variant or parts.netloc or parts.query or parts.fragment:
        _refuse(engine, text)
    if engine.name in _PORTS:
        folder = Path(parts.path).expanduser() if parts.path else None
        return Address(engine=engine, shown=text.rstrip(":"), folder=folder)
    if engine.name == "faiss":
        index = _index(engine, text, parts.path)
        return Address(engine=engine, shown=f"{engine.name}:{index}", index=index)
    if parts.path:
        _refuse(engine, text)
    return Address(engine=engine, shown=engine.name)


def without_password(text: str) -> str:
    """An address without what may be secret in it: a password, or options, which may hold one."""
    head, slashes, rest = text.partition("//")
    who, at, where = rest.rpartition("@")
    if "?" in who:
        # An option with an at sign or a password with a question mark: either way, there is a secret here.
        return f"{head}{slashes}…"
    return f"{head}{slashes}{who.partition(':')[0]}{at}{where.partition('?')[0].partition('#')[0]}"


def _postgresql(text: str, variant: str) -> Address:
    engine = ENGINES["pgvector"]
    index = _index(engine, text, variant)
    database = f"postgresql:{text.partition(':')[2]}"
    return Address(engine=engine, shown=without_password(text), index=index, database=database)


def _server(engine: Engine, text: str, parts: SplitResult) -> Address:
    if "@" in parts.netloc:
        raise WrongAddress(f"{without_password(text)}: a key does not belong here; put it into {KEYS[engine.name]}")
    try:
        port = parts.port
    except ValueError:
        _refuse(engine, text)
    if not parts.hostname or parts.query or parts.fragment:
        _refuse(engine, text)
    secure = parts.scheme.endswith("https")
    server = Server(
        host=parts.hostname,
        port=port or (_SECURE_PORT if secure else _PORTS[engine.name]),
        secure=secure,
        path=parts.path.strip("/"),
    )
    if engine.name == "chroma" and server.path and server.path.count("/") != 1:
        raise WrongAddress(f"{text}: what follows the port is TENANT/DATABASE, or nothing")
    return Address(engine=engine, shown=text, server=server)


def _index(engine: Engine, text: str, name: str) -> Index:
    if name == "hnsw":
        return "hnsw"
    if name not in {"", "flat"}:
        _refuse(engine, text)
    return "flat"


def _refuse(engine: Engine, text: str) -> NoReturn:
    allowed = ", ".join(engine.forms)
    raise WrongAddress(f"{without_password(text)!r} is no address of {engine.name}; allowed are {allowed}") from None
