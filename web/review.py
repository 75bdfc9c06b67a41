"""The review queue: people see an output, say good or bad with one key, and can take it back.

What the judge says of it stays folded away until it is asked for: people who see it first tend to agree with it, and
their labels would then say nothing about the judge.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, get_args
from urllib.parse import quote, unquote

from aiohttp import hdrs, web
from cachetools import LRUCache
from pydantic import TypeAdapter, ValidationError

from schemas import Label, Verdict, valid_labels
from schemas.base import Name
from store.reviews import Asked, Reviews
from store.writing import label_key
from web.lists import BadAddress, address

NOTE: Final = 500  # Characters of a note.
_COOKIE: Final = "assay-annotator"
_A_YEAR: Final = 365 * 86_400
_COUNTED: Final = 100  # Requests that wait are counted up to that number.
_RECENT: Final = 10_000
_SAID: Final = get_args(Label.model_fields["label"].annotation)
_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)
_MOMENT: Final = timedelta(milliseconds=1)


class NotSent(Exception):
    """The label is not on its topic, or it is not known whether it is; the message says why."""


class LabelSink(Protocol):
    """Where answers go."""

    async def away(self) -> str | None:
        """Why no label can be sent just now; None if one can."""

    async def send(self, label: Label) -> None:
        """Return when the broker has it; raises `NotSent`."""


def _position(fields: Mapping[str, Any]) -> dict[str, str]:
    """A place in the queue: whose outputs are asked about, empty for all, and the request that was skipped last."""
    return {name: str(fields.get(name, "")) for name in ("source", "after")}


class ReviewPages:
    """The addresses below `/review`."""

    def __init__(
        self,
        reader: Reviews,
        sink: LabelSink | None,
        answer: Callable[..., web.Response],
        looked_at: Callable[[Verdict], Awaitable[dict[str, Any]]],
    ) -> None:
        """`answer` renders a template, `looked_at` makes a verdict's evidence ready for its template."""
        self._reader = reader
        self._sink = sink
        self._answer = answer
        self._looked_at = looked_at
        self._recent: LRUCache[str, Label] = LRUCache(_RECENT)
        """Labels that were sent from here and are not in the store yet: nothing is asked again that was answered."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/review", self.next),
            web.post("/review", self.say),
            web.post("/review/undo", self.undo),
            web.post("/review/name", self.name),
            web.get("/review/{id}", self.one),
        ]

    async def next(self, request: web.Request) -> web.Response:
        """The oldest request that waits for this person, behind those that were skipped."""
        at = _position(request.query)
        if (annotator := _annotator(request)) is None or "name" in request.query:
            return self._answer("review_name.html", annotator=annotator or "", position=at, fault=None)
        found = await self._open_to(annotator, at)
        for asked in found:
            verdict = await asyncio.to_thread(self._reader.verdict, asked.request.verdict_id)
            if verdict is not None:
                return await self._show(annotator, asked, verdict, at, waiting=len(found))
        return self._answer("review_none.html", annotator=annotator, last=await self._last(annotator), position=at)

    async def one(self, request: web.Request) -> web.Response:
        """A certain request, whether or not it was answered."""
        at = _position(request.query)
        if (annotator := _annotator(request)) is None:
            return self._answer("review_name.html", annotator="", position=at, fault=None)
        asked = await self._asked(request.match_info["id"])
        if (verdict := await asyncio.to_thread(self._reader.verdict, asked.request.verdict_id)) is None:
            raise web.HTTPNotFound(text="no such verdict is kept")
        return await self._show(annotator, asked, verdict, at, waiting=None)

    async def say(self, request: web.Request) -> web.Response:
        """Send an answer, and go on to the next request."""
        form, annotator = await request.post(), _known_annotator(request)
        said, note = (str(form.get(name, "")).strip() for name in ("said", "note"))
        if said not in _SAID:
            raise BadAddress(f"the answer is {said!r}; allowed are {', '.join(_SAID)}")
        asked, at = await self._asked(str(form.get("verdict", ""))), _position(form)
        await self._send(asked, annotator, label=said, note=note or None)
        raise web.HTTPSeeOther(address("/review", **at))

    async def undo(self, request: web.Request) -> web.Response:
        """Take back what this person has said of a verdict, and show it again."""
        form, annotator = await request.post(), _known_annotator(request)
        asked = await self._asked(str(form.get("verdict", "")))
        if (before := valid_labels(await self._said(asked)).get(annotator)) is not None:
            await self._send(asked, annotator, label=before.label, withdrawn=True)
        path = f"/review/{quote(asked.request.verdict_id, safe='')}"
        raise web.HTTPSeeOther(address(path, **_position(form)))

    async def name(self, request: web.Request) -> web.Response:
        """Remember who answers, in a cookie."""
        form = await request.post()
        given, at = str(form.get("name", "")).strip(), _position(form)
        try:
            name = _NAME.validate_python(given)
        except ValidationError:
            fault = "A name has 1 to 256 characters on one line."
            return self._answer("review_name.html", status=400, annotator=given, position=at, fault=fault)
        response = web.Response(status=303, headers={hdrs.LOCATION: address("/review", **at)})
        response.set_cookie(
            _COOKIE, quote(name, safe=""), max_age=_A_YEAR, httponly=True, samesite="Strict", path="/review"
        )
        return response

    async def _show(
        self, annotator: str, asked: Asked, verdict: Verdict, at: dict[str, str], *, waiting: int | None
    ) -> web.Response:
        expired = asked.request.expires_at <= datetime.now(UTC)
        away = "no Kafka is configured" if self._sink is None else await self._sink.away()
        mine = [each for each in await self._said(asked) if each.annotator == annotator]
        return self._answer(
            "review.html", **await self._looked_at(verdict), asked=asked, annotator=annotator, position=at,
            waiting=waiting, counted=_COUNTED, note_length=NOTE, away=away, expired=expired,
            last=await self._last(annotator), mine=max(mine, key=lambda each: each.rank, default=None),
            skip=address("/review", **at | {"after": asked.request.id}),
        )  # fmt: skip

    async def _asked(self, verdict_id: str) -> Asked:
        if (found := await asyncio.to_thread(self._reader.asked, verdict_id)) is None:
            raise web.HTTPNotFound(text="nobody is asked about this verdict")
        return found

    async def _send(self, asked: Asked, annotator: str, **said: Any) -> None:
        request, now = asked.request, datetime.now(UTC)
        if request.expires_at <= now:
            raise BadAddress(f"the request expired at {request.expires_at:%Y-%m-%d %H:%M} UTC")
        if self._sink is None:
            raise web.HTTPServiceUnavailable(text="no Kafka is configured that would take the answer")
        before = [each.labelled_at for each in await self._said(asked) if each.annotator == annotator]
        given = {
            "verdict_id": request.verdict_id,
            "source": request.source,
            "model": request.model,
            "annotator": annotator,
            "rubric_version": request.rubric_version,
            # Also where the clock was set back: the last one counts.
            "labelled_at": max([now, *(each + _MOMENT for each in before)]),
        }
        try:
            label = Label.model_validate(given | said)
        except ValidationError as error:
            raise BadAddress(f"the note: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
        try:
            await self._sink.send(label)
        except NotSent as error:
            raise web.HTTPServiceUnavailable(text=f"{error}; answer again") from None
        self._recent[label_key(label)] = label

    async def _open_to(self, annotator: str, at: dict[str, str]) -> list[Asked]:
        if self._recent:
            for key in await asyncio.to_thread(self._reader.known, list(self._recent)):
                self._recent.pop(key, None)
        now, limit = datetime.now(UTC), _COUNTED + len(self._recent)
        found = await asyncio.to_thread(self._reader.open_to, annotator, now, **at, limit=limit)
        waiting: dict[str, Asked] = {}
        for each in found:
            said = valid_labels(_by_rubric(self._recent.values(), each))
            if annotator not in said and each.answers + len(said) < each.people:
                waiting.setdefault(each.request.verdict_id, each)
        return list(waiting.values())[:_COUNTED]

    async def _said(self, asked: Asked) -> list[Label]:
        """Return the labels by the rubric of the request."""
        kept = await asyncio.to_thread(self._reader.labels, asked.request.verdict_id)
        return _by_rubric([*kept, *self._recent.values()], asked)

    async def _last(self, annotator: str) -> Label | None:
        """The last label of a person that counts."""
        recent = [each for each in self._recent.values() if each.annotator == annotator]
        said = [*await asyncio.to_thread(self._reader.said_by, annotator), *recent]
        last = {(each.verdict_id, each.rubric_version): each for each in sorted(said, key=lambda label: label.rank)}
        counting = (each for each in last.values() if not each.withdrawn)
        return max(counting, key=lambda each: each.rank, default=None)


def _by_rubric(labels: Iterable[Label], asked: Asked) -> list[Label]:
    """Those of the verdict that is asked about, by experts and its rubric."""
    about = (asked.request.verdict_id, "expert", asked.request.rubric_version)
    return [each for each in labels if (each.verdict_id, each.kind, each.rubric_version) == about]


def _annotator(request: web.Request) -> str | None:
    try:
        return _NAME.validate_python(unquote(request.cookies.get(_COOKIE, "")))
    except ValidationError:
        return None


def _known_annotator(request: web.Request) -> str:
    if (annotator := _annotator(request)) is None:
        raise web.HTTPSeeOther("/review")
    return annotator
