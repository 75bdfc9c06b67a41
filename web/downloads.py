"""Lists of verdicts as JSON and CSV, for scripts and spreadsheets."""

import csv
import io
from collections.abc import Sequence

import orjson
from aiohttp import hdrs, web

from store.reading import Listed

_COLUMNS = ("id", "record_id", "source", "model", "checker", "outcome", "judge", "score", "reason", "checked_at")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings by which spreadsheets take a text for a formula."""


def as_json(rows: Sequence[Listed], earlier: str | None) -> web.Response:
    """`{"verdicts": [...], "earlier": address or null}`."""
    document = {"verdicts": [{name: getattr(one, name) for name in _COLUMNS} for one in rows], "earlier": earlier}
    return web.Response(body=orjson.dumps(document, option=orjson.OPT_UTC_Z), content_type="application/json")


def as_csv(rows: Sequence[Listed], earlier: str | None) -> web.Response:
    """A line a verdict; the address of the earlier ones stands in the header `Link`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    writer.writerows([_cell(getattr(one, name)) for name in _COLUMNS] for one in rows)
    headers: dict[str, str] = {hdrs.CONTENT_DISPOSITION: 'attachment; filename="verdicts.csv"'}
    if earlier:
        headers["Link"] = f'<{earlier}>; rel="next"'
    return web.Response(text=text.getvalue(), content_type="text/csv", charset="utf-8", headers=headers)


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat else value
