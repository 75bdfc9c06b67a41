"""Addresses of stores, as users write them, and the metrics of each store in its library's own words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from lab.audit.cases import CannotAudit

StoreMetric = Literal["cosine", "euclidean", "manhattan", "inner_product", "bray_curtis", "lance_williams"]
"""A store's way of comparing vectors; the nearest has the smallest distance, or the largest inner product."""

_SERVER = r"\+(?P<url>https?://.*)"
_FOLDER = r"(?://(?=/))?(?P<folder>(?!//)[^?#]*)"


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of store; module and extra are named as it is."""

    name: str
    spaces: Mapping[StoreMetric, str]
    """The metrics that it has, and their names in its library."""
    forms: tuple[str, ...]
    """Its addresses, for a person."""
    pattern: str
    """Its addresses, for the program."""
    port: int = 0
    key: str = ""
    """The environment variable that by custom holds the key of a server."""


def _spaces(*names: str) -> dict[StoreMetric, str]:
    metrics: tuple[StoreMetric, ...] = ("cosine", "euclidean", "manhattan", "inner_product")
    return {metric: name for metric, name in zip(metrics, names, strict=True) if name}


# FAISS has no cosine; its users scale vectors to length 1 and take the inner product.
_FAISS = _spaces("METRIC_INNER_PRODUCT", "METRIC_L2", "METRIC_L1", "METRIC_INNER_PRODUCT")
_FAISS |= {"bray_curtis": "METRIC_BrayCurtis", "lance_williams": "METRIC_Canberra"}

ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in (
    Engine("chroma", _spaces("cosine", "l2", "", "ip"), ("chroma:", "chroma:FOLDER", "chroma+http://HOST:PORT"),
           f"chroma(?::{_FOLDER}|{_SERVER})", 8000, "CHROMA_API_KEY"),
    Engine("annoy", _spaces("angular", "euclidean", "manhattan", "dot"), ("annoy:",), "annoy:"),
    Engine("faiss", _FAISS, ("faiss:flat", "faiss:hnsw"), "faiss:(?P<index>flat|hnsw|)"),
    Engine("hnswlib", _spaces("cosine", "l2", "", "ip"), ("hnswlib:",), "hnswlib:"),
    Engine("qdrant", _spaces("Cosine", "Euclid", "Manhattan", "Dot"),
           ("qdrant:", "qdrant:FOLDER", "qdrant+http://HOST:PORT"),
           f"qdrant(?::{_FOLDER}|{_SERVER})", 6333, "QDRANT_API_KEY"),
    Engine("pgvector", _spaces("<=> vector_cosine_ops", "<-> vector_l2_ops", "<+> vector_l1_ops", "<#> vector_ip_ops"),
           ("postgresql://HOST/DATABASE", "postgresql+hnsw://HOST/DATABASE"),
           r"postgres(?:ql)?(?:\+(?P<index>flat|hnsw))?:(?P<database>//.*)"),
)}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A store and its place: in memory where neither a folder, a server nor a database is given."""

    engine: Engine
    shown: str
    """For a person: as it was written, without a password."""
    index: str = ""
    """`flat` compares with every vector; `hnsw` is an approximate graph; empty if the store has no choice."""
    folder: Path | None = None
    url: str = ""
    """A server's, with its port and without a path."""
    path: str = ""
    """The path behind the port, without slashes at its ends."""
    database: str = ""
    """A PostgreSQL address as its client library takes it; it may hold a password."""


def read_address(text: str) -> Address:
    """Read the store that an address names.

    Raises:
        CannotAudit: it names none; the message says what is allowed.
    """
    for engine in ENGINES.values():
        if found := re.fullmatch(engine.pattern, text, re.IGNORECASE):
            parts = found.groupdict()
            if parts.get("url"):
                return _server(engine, text, parts["url"])
            index = (parts.get("index") or ("flat" if "index" in parts else "")).lower()
            if "database" in parts:
                database = f"postgresql:{parts['database']}"
                return Address(engine=engine, shown=without_password(text), index=index, database=database)
            folder = Path(parts["folder"]).expanduser() if parts.get("folder") else None
            shown = f"{engine.name}:{index}" if index else text.rstrip(":")
            return Address(engine=engine, shown=shown, index=index, folder=folder)
    raise _wrong(text)


def without_password(text: str) -> str:
    """An address without what may be secret in it: a password, or options, which may hold one."""
    head, slashes, rest = text.partition("//")
    who, at, where = rest.rpartition("@")
    if "?" in who:
        # An option with an at sign or a password with a question mark: either way, there is a secret here.
        return f"{head}{slashes}…"
    return f"{head}{slashes}{who.partition(':')[0]}{at}{where.partition('?')[0].partition('#')[0]}"


def _server(engine: Engine, text: str, url: str) -> Address:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else engine.port)
    except ValueError:
        raise _wrong(text) from None
    if "@" in parts.netloc:
        raise CannotAudit(f"{without_password(text)}: a key does not belong here; put it into {engine.key}")
    if not parts.hostname or parts.query or parts.fragment:
        raise _wrong(text)
    path = parts.path.strip("/")
    if engine.name == "chroma" and path and path.count("/") != 1:
        raise CannotAudit(f"{text}: what follows the port is TENANT/DATABASE, or nothing")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Address(engine=engine, shown=text, url=f"{parts.scheme}://{host}:{port}", path=path)


def _wrong(text: str) -> CannotAudit:
    scheme = re.match(r"(?!pgvector)([a-z]+)(?:\+[a-z]+)?:", text, re.IGNORECASE)
    name = scheme[1].lower() if scheme else ""
    engine = ENGINES.get("pgvector" if name in ("postgresql", "postgres") and "://" in text else name)
    forms = ", ".join(form for one in ([engine] if engine else ENGINES.values()) for form in one.forms)
    what = engine.name if engine else "a store"
    return CannotAudit(f"{without_password(text)!r} is no address of {what}; allowed are {forms}")
