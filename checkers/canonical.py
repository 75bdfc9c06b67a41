"""Values as text that can be compared and hashed."""

import json
from typing import Any


def canonical(value: Any) -> str:
    """One text for equal JSON values, whatever the order of keys; integers of any size."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
