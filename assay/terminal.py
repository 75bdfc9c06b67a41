"""Text of others on a terminal: responses and details are data, and must not move the cursor or change colours."""

import re

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")


def plain(text: str) -> str:
    """`text` on one line, without what terminals act on."""
    return _CONTROLS.sub(" ", text)
