"""Models of this process: each loaded once, with its first use, and worked with on its own thread."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

from models.protocol import ModelFailed
from models.wording import first_line
from models.work import Phase

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

ModelT = TypeVar("ModelT")
ResultT = TypeVar("ResultT")


class ModelUnusable(RuntimeError):
    """The named model cannot be loaded, or is of the wrong kind."""


class ModelThread(Generic[ModelT]):
    """Belongs to one event loop, which it never blocks. If the model cannot be loaded, every use says why."""

    def __init__(self, name: str, load: Callable[[], ModelT]) -> None:
        """`name` is what messages call the model; `load` reads it, on the thread."""
        self.called, self._load = name, load
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._loading: asyncio.Future[ModelT] | None = None
        _threads.add(self)

    def load(self) -> "asyncio.Future[ModelT]":
        """Begin now, and not with the first use."""
        if self._loading is None:
            self._loading = self.run(self._load)
        return self._loading

    @property
    def is_loading(self) -> bool:
        return self._loading is not None and not self._loading.done()

    @property
    def fault(self) -> str | None:
        """Why the model cannot be used, or None."""
        if self._loading is None or not self._loading.done():
            return f"{self.called} is being loaded"
        fault = None if self._loading.cancelled() else self._loading.exception()
        return None if fault is None else f"{fault}"[:300]

    async def model(self) -> ModelT:
        """The model, once it is loaded, however long that takes; raises ModelFailed."""
        loading = self.load()
        with Phase("waits"):
            await asyncio.wait({loading})
        if self.fault is not None:
            raise ModelFailed(self.fault, cause="judge_failed") from loading.exception()
        return loading.result()

    def run(self, call: Callable[[], ResultT]) -> "asyncio.Future[ResultT]":
        """Work with the model, on the thread."""
        return asyncio.get_running_loop().run_in_executor(self._thread, call)

    def end(self) -> None:
        """End the thread once its work is done."""
        if self._loading is not None:
            self._loading.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)


THREADS = 2
"""Of the processor, that a forward pass takes: processes share it."""

_threads: "WeakSet[ModelThread[Any]]" = WeakSet()


def being_loaded() -> list[str]:
    """Names of this process's models that are being loaded at the moment."""
    return sorted({one.called for one in _threads if one.is_loading})


def sentence_transformer(name: str, *, local_files_only: bool = False) -> "SentenceTransformer":
    """The sentence-transformers model of a name or path, on the fastest device; raises ModelUnusable."""
    with loading("sentence-transformers model", name):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(name, local_files_only=local_files_only)


def batches_of(sizes: Sequence[int], budget: int) -> list[list[int]]:
    """Indices in batches, the longest first; a batch's count times its longest is at most `budget`, or it is one."""
    batches: list[list[int]] = []
    widest = 0
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        if batches and (len(batches[-1]) + 1) * widest <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
            widest = sizes[index]
    return batches


def without_bars() -> None:
    """Switch off the bars of the models' libraries: they belong neither into a service's logs nor between our lines.

    To be called before any of them is imported.
    """
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


@contextmanager
def loading(kind: str, name: str, *, extra: str = "judges") -> Iterator[None]:
    """Make ModelUnusable, in one line, of whatever a model's library raises; `extra` is what brings that."""
    without_bars()
    try:
        yield
    except ImportError as error:
        raise ModelUnusable(f"a package is missing ({error}); it comes with `pip install 'assay[{extra}]'`") from error
    except Exception as error:
        raise ModelUnusable(f"the {kind} {name!r} cannot be loaded: {first_line(error)}") from error
