"""Worker processes whose wall clock can be set wrong, each by itself, while they run."""

import os
import shutil
import subprocess
import sys
from multiprocessing import forkserver
from pathlib import Path

CLOCK_VARIABLE = "SHIFTED_CLOCK"
"""Names the file with the seconds by which a process's clock is wrong."""


def clocks_can_jump() -> bool:
    """Whether there is what it takes: Linux and a C compiler."""
    return sys.platform == "linux" and shutil.which("cc") is not None


def make_clocks_shiftable(folder: Path) -> None:
    """Let workers have clocks that can be shifted. To be called before the first worker is started."""
    library = folder / "clock.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    os.environ["LD_PRELOAD"] = str(library)
    try:
        # The processes of workers are forked from one server, which is started once.
        forkserver.ensure_running()
    finally:
        del os.environ["LD_PRELOAD"]
