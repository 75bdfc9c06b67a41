"""Times as the tables hold them: milliseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def moment(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND
