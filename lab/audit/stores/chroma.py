"""Chroma: within this process in memory or in a folder, or a server.

Of every collection that it ever had, deleted ones too, Chroma keeps 2.6 MB of memory, four open files and the files of
its index. So one collection serves many cases and is emptied between them: a graph of so few vectors is searched
completely. In this process the database is made anew with each collection; a server's cannot be.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any, cast

import chromadb
import httpx
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration, CreateHNSWConfiguration
from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings

from lab.audit.stores.store import Store, Vectors, scratch_name

_CASES_OF_A_COLLECTION = 100
"""A graph of 200 vectors, deleted ones included; 50 collections for 5,000 cases."""

_REQUEST_SECONDS = 60.0
"""Chroma's client would wait for ever; a server makes a collection in milliseconds."""


class ChromaStore(Store):
    title = "Chroma"
    # Its client raises errors of its own, those of httpx, ValueError, and Exception itself.
    errors = (Exception,)

    def open(self) -> None:
        if self.address.url:
            self.require_answer()
        self._folder = self.scratch_folder() if self.address.folder is not None else None
        self._current = self.stack.enter_context(ExitStack())
        self._renew()

    def _renew(self) -> None:
        self._current.close()
        self._collection = self._current.enter_context(self._fresh())
        self._left = _CASES_OF_A_COLLECTION

    def ask(self, candidates: Vectors, query: Vectors) -> int | str | None:
        if not self._left:
            self._renew()
        self._left -= 1
        ids = [str(row) for row in range(len(candidates))]
        try:
            self._collection.add(ids=ids, embeddings=candidates)
            found = self._collection.query(query_embeddings=query[None, :], n_results=1, include=[])["ids"][0]
        finally:
            self._collection.delete(ids=ids)
        return found[0] if found else None

    @contextmanager
    def _fresh(self) -> Iterator[chromadb.Collection]:
        with ExitStack() as stack:
            # It would read any .env file in the current folder.
            settings = Settings(_env_file=None, anonymized_telemetry=False)
            if self.address.url:
                client = self._remote(settings)
            elif self._folder is not None:
                client = chromadb.PersistentClient(stack.enter_context(TemporaryDirectory(dir=self._folder)), settings)
            else:
                client = chromadb.EphemeralClient(settings)
            stack.callback(cast("Client", client).close)
            name = scratch_name()
            graph = CreateCollectionConfiguration(hnsw=CreateHNSWConfiguration(space=cast("Any", self.space)))
            collection = client.create_collection(name, configuration=graph, embedding_function=None)
            stack.callback(client.delete_collection, name)
            yield collection

    def _remote(self, settings: Settings) -> Any:
        tenant, _, database = self.address.path.partition("/")
        key = os.environ.get(self.address.engine.key)
        client: Any = chromadb.HttpClient(
            # A host alone would lose the brackets of an IPv6 address.
            host=self.address.url,
            port=int(self.address.url.rpartition(":")[2]),
            ssl=self.address.url.startswith("https"),
            headers={"X-Chroma-Token": key} if key else None,
            settings=settings,
            tenant=tenant or DEFAULT_TENANT,
            database=database or DEFAULT_DATABASE,
        )
        # There is no public way to give it a limit.
        client._server._session.timeout = httpx.Timeout(_REQUEST_SECONDS)  # noqa: SLF001
        return client


STORE = ChromaStore
