"""Processes that tests start and others are to end."""

import psutil


def has_ended(process: psutil.Process) -> bool:
    """True once it runs no more: a zombie has ended, and stays one where nobody collects the dead of others."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
