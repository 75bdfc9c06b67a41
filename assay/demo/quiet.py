"""Keeping the libraries' chatter out of what people read: it goes to a file that is kept where something went wrong."""

import contextlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from streams.logs import configure_logs


@contextlib.contextmanager
def quiet(level: str) -> Iterator[Path]:
    """Logs, warnings and whatever else is written to standard error go to the file that this yields.

    The file is removed in the end, unless an error ends the context.
    """
    folder = Path(tempfile.mkdtemp(prefix="assay-demo-"))
    log = folder / "worker.log"
    failed = False
    try:
        with log.open("w", encoding="utf-8") as file, contextlib.redirect_stderr(file):
            configure_logs(level)
            logging.captureWarnings(True)
            yield log
    except Exception:
        failed = True
        raise
    finally:
        if not failed:
            shutil.rmtree(folder, ignore_errors=True)
