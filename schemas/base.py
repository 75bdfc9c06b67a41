"""What all schemas share: strict text, identifiers, and how models are configured."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

# Whitespace controls and ESC (terminal colours) occur in real responses; the others never do and break
# stores and terminals downstream. Half a surrogate pair cannot be written as UTF-8 at all.
_FORBIDDEN_IN_TEXT = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\ud800-\udfff]")
_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _no_control_characters(text: str) -> str:
    found = _FORBIDDEN_IN_TEXT.search(text)
    if found:
        raise ValueError(f"control character U+{ord(found[0]):04X} at position {found.start()}")
    return text


def _printable_name(name: str) -> str:
    found = _FORBIDDEN_IN_NAMES.search(name)
    if found:
        raise ValueError(f"control character U+{ord(found[0]):04X} at position {found.start()}")
    return name


def as_utc(moment: datetime) -> datetime:
    """Read a time without a zone as UTC, and express every time in UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("outside the years 1 to 9999 in UTC") from None


Text = Annotated[str, AfterValidator(_no_control_characters)]
"""Free text of any length: prompts, responses, references."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=256), AfterValidator(_printable_name)]
"""A short label: a source, a model, an id. One line, 1 to 256 characters."""

Timestamp = Annotated[datetime, AfterValidator(as_utc)]
"""A moment in UTC; RFC 3339 on the wire."""


class Wire(BaseModel):
    """A thing that travels: frozen, and fields that this version does not know are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, ser_json_inf_nan="null", allow_inf_nan=False)
