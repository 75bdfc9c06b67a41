"""The page: its addresses, and what each of them shows."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import orjson
from aiohttp import hdrs, web
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import JsonValue

from schemas import OUTCOMES, Verdict
from schemas.base import BUNDLED_ACCURACY, is_bundled
from store.failures import fault_of, read_failures, rejecting
from store.opening import StoreAway
from store.reading import MOST, AlertMessage, Reader, Series
from store.reviews import Reviews
from web import lists, texts
from web.evidence import shown
from web.guard import Guard, Handler, set_headers
from web.lists import LOOKED_BACK, RANGES, BadAddress, Filters, address, key_of, number, written
from web.rates import HEIGHT, SHOWN_FROM, SPARSE, WIDTH, Rate, Span, agreements, bars, curve, open_alerts, rates
from web.review import LabelSink, ReviewPages
from web.texts import NAMED, as_text

# Before and after an alert, as its picture has it; four times as much where it is not recent.
_AROUND = timedelta(hours=5), timedelta(hours=1)
_RECENT = timedelta(hours=40)

FindRecord = Callable[[Verdict], Awaitable[bytes | None]]
"""Gives the record that a verdict is about, as JSON; None if it cannot be had."""

_ROWS = 50
_DRAWN = 24  # Series with a picture; the table has more.
_SERIES = 100
_COUNTED = 10_000  # Verdicts of a list that are counted; beyond them it says that there are more.
_LOOKED_AT = 1_000  # The latest verdicts with a fault, among which the most frequent faults are looked for.
_BEFORE = timedelta(days=7)  # What a rate is compared with, unless an alert names its baseline.
_LISTENERS = 64  # Browsers that new verdicts are sent to at once.
_MOST_BODY = 8192  # Holds a note whose characters take nine bytes each in a form.


def create_app(
    reader: Reader,
    *,
    host: str,
    token: str | None,
    find_record: FindRecord | None = None,
    labels: LabelSink | None = None,
) -> web.Application:
    """The page over a store. `host` is the address that it is served at; `labels` is where people's answers go."""
    guard, reviews = Guard(host, token), Reviews(reader.engine)
    page = _Page(reviews, guard, find_record)
    review = ReviewPages(reviews, labels, page.answer, page.looked_at)
    app = web.Application(middlewares=[page.errors, guard.check], client_max_size=_MOST_BODY)
    app.on_response_prepare.append(set_headers)
    app.add_routes(
        [
            web.get("/", page.overview),
            web.get("/verdicts", page.verdicts),
            web.get("/verdicts.{form:json|csv}", page.download),
            web.get("/verdicts/{id}", page.verdict),
            web.get("/verdicts/{id}/{part:verdict|record|response}", page.part),
            web.get("/records/{source}/{id}", page.record),
            web.get("/alerts", page.alerts),
            web.get("/alerts/{id}", page.alert),
            web.get("/failures", page.failures),
            web.get("/live", page.live, allow_head=False),
            web.get("/login", page.login),
            web.post("/login", page.log_in),
            web.static("/static", str(files("web").joinpath("static"))),
            *review.routes(),
        ]
    )
    return app


class _Page:
    def __init__(self, reader: Reviews, guard: Guard, find_record: FindRecord | None) -> None:
        self._reader = reader
        self._guard = guard
        self._find_record = find_record
        self._listeners = 0
        self._templates = _templates()

    async def overview(self, request: web.Request) -> web.Response:
        now = datetime.now(UTC)
        begin, end, minutes = Filters.of(request.query).stretch(now)
        span = Span.of(begin, end, counted=now)
        within: dict[str, Any] = {"until": span.end, "minutes": span.minutes}

        def read() -> dict[str, Any]:
            reader = self._reader
            last = reader.last_alerts()
            totals = reader.totals(span.begin, **within)
            found = self._rates({one: of for one, of in totals.items() if one.source}, last, span)
            still = open_alerts(last)
            # What fell comes first, then what ever had an alert.
            found.sort(key=lambda one: (one.series not in still, not one.alerts))
            drawn = [one for one in found if not one.is_sparse][:_DRAWN]
            counts = reader.counts([one.series for one in drawn], span.begin, **within)
            people = agreements(reader)
            corrected = {Series(now.source, now.model, now.checker): now.rate for now, _ in people}
            checkers = {one: Counter[str]() for one in reader.names("checker")}
            for one, outcomes in totals.items():
                checkers.setdefault(one.checker, Counter()).update(outcomes)
            return {
                "rates": found[:_SERIES],
                "drawn": drawn,
                "curves": {of: curve(one, span) for of, one in counts.items()},
                "open": still,
                "checkers": [(name, checkers[name], reader.last(name)) for name in sorted(checkers)],
                "newest": reader.newest(),
                "people": people,
                "corrected": corrected,
            }

        found = await asyncio.to_thread(read)
        return self.answer("overview.html", **found, minutes=minutes, span=span, now=now, sparse=SPARSE)

    async def verdicts(self, request: web.Request) -> web.Response:
        now, filters = datetime.now(UTC), Filters.of(request.query)
        wanted, before = filters.wanted(now), key_of(request.query.get("before"))

        def read() -> dict[str, Any]:
            reader = self._reader
            # Before the rows: what comes in between is shown twice rather than never.
            newest = reader.newest()
            rows = reader.verdicts(wanted, before=before, limit=_ROWS + 1)
            names = {one: reader.names(one) for one in NAMED}
            faults = reader.faults(wanted, most=_LOOKED_AT)
            return {"newest": newest, "rows": rows, "names": names, "faults": faults, **self._drawn(filters, now)}

        read_in = await asyncio.to_thread(read)
        rows = read_in.pop("rows")
        older = filters.address("/verdicts", before=written(rows[_ROWS - 1].key)) if rows[_ROWS:] else None
        live = None if before or filters.until else filters.address("/live", after=read_in["newest"])
        return self.answer("verdicts.html", **read_in, rows=rows[:_ROWS], filters=filters, older=older, live=live,
                            is_first=before is None, counted=_COUNTED)  # fmt: skip

    def _drawn(self, filters: Filters, now: datetime) -> dict[str, Any]:
        """What a list shows above its rows: outcomes over time, and the rate of a single series."""
        reader, wanted = self._reader, filters.wanted(now)
        begin = wanted.since or reader.oldest() or now - LOOKED_BACK
        end = wanted.until or now
        span, coarse = Span.of(begin, end, counted=None), Span.of(begin, end, counted=now)
        outcomes = reader.outcomes(wanted, span.begin, minutes=span.minutes, most=_COUNTED)
        total = sum(one.verdicts for one in outcomes)
        if total == _COUNTED and not (wanted.words or wanted.fault):
            span = coarse
            outcomes = reader.all_outcomes(wanted, span.begin, until=span.end, minutes=span.minutes)
        return {
            "bars": bars(outcomes, span),
            "total": total,
            "span": span,
            **(self._curve(filters.series, coarse) if filters.series else {"rate": None}),
            "calibration": next(iter(self._reader.calibrations(filters.series)), None) if filters.series else None,
        }

    def _curve(self, series: Series, span: Span) -> dict[str, Any]:
        """The rate of one series over a time."""
        counts = self._reader.counts([series], span.begin, until=span.end, minutes=span.minutes)[series]
        verdicts = Counter[str]()
        for one in counts:
            verdicts[one.outcome] += one.verdicts
        (rate,) = self._rates({series: verdicts}, self._reader.last_alerts(), span)
        return {"rate": rate, "rate_span": span, "curves": {series: curve(counts, span)}}

    def _rates(self, totals: Mapping[Series, dict[str, int]], last: list[AlertMessage], span: Span) -> list[Rate]:
        """The rates of series, compared with whole days before."""
        day = span.begin.replace(hour=0, minute=0)
        before = self._reader.totals(day - _BEFORE, until=day, minutes=1440)
        return rates(totals, before, last, self._reader.alerts_between(span.begin, span.end))

    async def download(self, request: web.Request) -> web.Response:
        """The list as JSON or CSV, with the same filters, and the address of the earlier ones."""
        filters, form = Filters.of(request.query), request.match_info["form"]
        wanted, before = filters.wanted(datetime.now(UTC)), key_of(request.query.get("before"))
        rows = await asyncio.to_thread(self._reader.verdicts, wanted, before=before)
        path = f"/verdicts.{form}"
        earlier = filters.address(path, before=written(rows[-1].key)) if len(rows) == MOST else None
        return lists.as_json(rows, earlier) if form == "json" else lists.as_csv(rows, earlier)

    async def verdict(self, request: web.Request) -> web.Response:
        verdict = await self._verdict(request)

        def read() -> dict[str, Any]:
            others = self._reader.of_record(verdict.source, verdict.record_id)
            return {"others": others, "improvements": self._reader.improvements(verdict.id)}

        more = await asyncio.to_thread(read) | await self.looked_at(verdict)
        return self.answer("verdict.html", **more)

    async def looked_at(self, verdict: Verdict) -> dict[str, Any]:
        """A verdict, its record and its evidence, made ready for the evidence's template."""
        record, where = await self._record(verdict)
        return {"where": where, "fault": fault_of(verdict), **shown(verdict, record)}

    async def part(self, request: web.Request) -> web.Response:
        verdict, part = await self._verdict(request), request.match_info["part"]
        value: Any = verdict.model_dump(mode="json")
        if part != "verdict":
            value, _ = await self._record(verdict)
        if part == "response" and value is not None:
            value = value.get("response")
        if value is None:
            raise web.HTTPNotFound(text=f"the {part} is not at hand")
        # A download, which no browser shows in our name.
        return web.Response(
            text=as_text(value), headers={hdrs.CONTENT_DISPOSITION: f'attachment; filename="{part}.txt"'}
        )

    async def record(self, request: web.Request) -> web.Response:
        source, identifier = request.match_info["source"], request.match_info["id"]
        rows = await asyncio.to_thread(self._reader.of_record, source, identifier)
        if not rows:
            raise web.HTTPNotFound(text="no verdict on this record is kept")
        verdict = await asyncio.to_thread(self._reader.verdict, rows[0].id)
        record, where = (None, None) if verdict is None else await self._record(verdict)
        return self.answer("record.html", source=source, id=identifier, rows=rows, record=record, where=where,
                            verdict=verdict)  # fmt: skip

    async def alerts(self, request: web.Request) -> web.Response:
        before = request.query.get("before")
        rows = await asyncio.to_thread(self._reader.alerts, before=number(before) if before else None, limit=_ROWS + 1)
        return self.answer("alerts.html", rows=rows[:_ROWS], older=rows[_ROWS - 1][0] if rows[_ROWS:] else None)

    async def alert(self, request: web.Request) -> web.Response:
        alert = await asyncio.to_thread(self._reader.alert, request.match_info["id"])
        if alert is None:
            raise web.HTTPNotFound(text="no such alert is kept")
        now, subject = datetime.now(UTC), Series(alert.source, alert.model, alert.checker)
        before, after = _AROUND if now - alert.raised_at < _RECENT else (4 * _AROUND[0], 4 * _AROUND[1])
        span = Span.of(alert.raised_at - before, min(alert.raised_at + after, now), counted=now)

        def read() -> dict[str, Any]:
            # A series that is younger is shown from its beginning, in finer steps.
            found = self._reader.outcomes(subject.wanted(since=span.begin), span.begin, minutes=1, most=_COUNTED)
            begin = min([alert.raised_at, *(one.begins for one in found)]) if found else span.begin
            return self._curve(subject, Span.of(begin, span.end, counted=now))

        found = await asyncio.to_thread(read)
        return self.answer("alert.html", alert=alert, **found)

    async def failures(self, request: web.Request) -> web.Response:
        """The series that the address names, else the one with most rejects, next to all that have rejects."""
        filters = Filters.of(request.query)
        begin, end, minutes = filters.stretch(datetime.now(UTC))
        # Next to a series that is chosen the others are there to choose from.
        named = {} if filters.series else {name: getattr(filters, name) for name in NAMED}

        def read() -> dict[str, Any]:
            listed = rejecting(self._reader, begin, end, **named)
            shown = filters.series or next(iter(listed), None)
            report = shown and read_failures(self._reader, shown, begin, end)
            return {"listed": [*listed.items()][:_SERIES], "series": shown, "report": report}

        found = await asyncio.to_thread(read)
        return self.answer("failures.html", **found, filters=filters, minutes=minutes, begin=begin, end=end)

    async def live(self, request: web.Request) -> web.StreamResponse:
        wanted = Filters.of(request.query).wanted(datetime.now(UTC))
        after = number(request.headers.get("Last-Event-ID") or request.query.get("after") or "0")
        if self._listeners >= _LISTENERS:
            raise web.HTTPServiceUnavailable(text=f"{_LISTENERS} browsers get new verdicts already")
        self._listeners += 1
        try:
            row = self._templates.get_template("row.html").render
            return await lists.send_live(request, self._reader, wanted, after, lambda one: row(row=one).strip())
        finally:
            self._listeners -= 1

    async def login(self, _: web.Request) -> web.Response:
        return self.answer("login.html", failed=False)

    async def log_in(self, request: web.Request) -> web.Response:
        token = (await request.post()).get("token", "")
        response = web.Response(status=303, headers={hdrs.LOCATION: "/"})
        if isinstance(token, str) and self._guard.log_in(response, token.strip()):
            return response
        return self.answer("login.html", status=401, failed=True)

    @web.middleware
    async def errors(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Turn what is raised into an answer that says what is wrong."""
        try:
            return await handler(request)
        except BadAddress as error:
            return self.answer("error.html", status=400, title="The address cannot be understood", detail=str(error))
        except StoreAway as error:
            return self.answer("error.html", status=503, title="The store cannot be read", detail=str(error))
        except web.HTTPException as error:
            if error.status < 400:
                raise
            answer = self.answer("error.html", status=error.status, title=error.reason, detail=error.text or "")
            for name in (hdrs.WWW_AUTHENTICATE, hdrs.ALLOW):
                if name in error.headers:
                    answer.headers[name] = error.headers[name]
            return answer

    async def _verdict(self, request: web.Request) -> Verdict:
        found = await asyncio.to_thread(self._reader.verdict, request.match_info["id"])
        if found is None:
            raise web.HTTPNotFound(text="no such verdict is kept")
        return found

    async def _record(self, verdict: Verdict) -> tuple[dict[str, JsonValue] | None, str | None]:
        """The record, and where it comes from; None if it is not at hand."""
        data, where = await asyncio.to_thread(self._reader.record, verdict.source, verdict.record_id), "store"
        if data is None and self._find_record is not None:
            data, where = await self._find_record(verdict), "topic"
        return (None, None) if data is None else (orjson.loads(data), where)

    def answer(self, template: str, *, status: int = 200, **context: Any) -> web.Response:
        text = self._templates.get_template(template).render(context)
        return web.Response(text=text, status=status, content_type="text/html", charset="utf-8")


_OF_TEXTS = "visible", "plain", "shortened", "as_text", "clock", "ago", "percent", "points", "length_of"


def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {name: getattr(texts, name) for name in _OF_TEXTS}
    found.filters["segment"] = lambda name: quote(name, safe="")
    found.filters["sum_of"] = lambda numbers: sum(numbers.values())
    found.tests["bundled"] = is_bundled
    found.globals |= {
        "W": texts,
        "address_of": address,
        "LONGEST": texts.LONGEST,
        "outcomes": OUTCOMES,
        "ranges": RANGES,
        "shown_from": SHOWN_FROM,
        "BUNDLED_ACCURACY": BUNDLED_ACCURACY,
        "width": WIDTH,
        "height": HEIGHT,
    }
    return found
