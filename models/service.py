"""A model behind an HTTP address that is no chat endpoint: it gets a question's data as JSON and answers as JSON."""

import asyncio
import time
from urllib.parse import urlsplit

import orjson
from pydantic import ValidationError

from models.endpoint import BoundedClient, time_limit
from models.faults import REFUSED_STATUSES, EndpointMisconfigured, Refused, Unreachable, passing
from models.flow import Attempts, BreakerListener, Flow
from models.protocol import Answer, ModelError, ModelFailed, Question, ReplyT
from models.settings import EndpointSettings
from schemas import Usage


class ServiceModel:
    """Asks a service; belongs to one event loop."""

    def __init__(self, settings: EndpointSettings, *, section: str, on_breaker: BreakerListener | None = None) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings, self._section = settings, section
        self._url = str(settings.base_url)
        headers = {name: value.get_secret_value() for name, value in settings.extra_headers.items()}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self._client = BoundedClient(self._url, headers={"Content-Type": "application/json", **headers})
        name = f"{section} {settings.model or 'service'}"
        self._flow = Flow(self._probe, settings, name=name, on_breaker=on_breaker)

    @property
    def name(self) -> str:
        return f"service/{self._settings.model or urlsplit(self._url).netloc}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer to `question.data`, which is POSTed with the configured `extra_body`.

        Raises:
            ModelUnavailable: the service is down, throttles us, or refuses our key or address.
            ModelFailed: `judge_failed` if the question has no data, or the service refuses or fails on them;
                `judge_slow` if it answers others in time, but not these; `judge_unusable` if its answer has another
                form.
        """
        if question.data is None:
            detail = f"a service reads no prompts, and '{question.task}' is a question in words; configure an endpoint"
            raise ModelFailed(detail, cause="judge_failed")
        content, spent = orjson.dumps({**self._settings.extra_body, **question.data}), list[Usage]()
        run = Attempts((question.written, len(content)), self._settings.deadline_seconds)
        try:
            body: bytes = await self._flow.retrying(run)(self._exchange, content, run, spent)
            reply = _reply(body, question)
        except Refused as refused:
            detail = f"the service refused: {refused.detail}"
            raise ModelFailed(detail, cause="judge_failed", usage=_total(spent)) from None
        except (ModelError, asyncio.CancelledError) as error:
            error.usage = _total(spent)  # type: ignore[union-attr]
            raise
        return Answer(reply, _total(spent))

    async def close(self) -> None:
        await self._client.aclose()

    async def _probe(self, seconds: float) -> None:
        """Ask with no data: a service that is there refuses that at once, or answers."""
        await self._send(b"{}", seconds, [])

    async def _exchange(self, content: bytes, run: Attempts, spent: list[Usage]) -> bytes:
        async with self._flow.slot(run) as seconds:
            return await self._send(content, seconds, spent)

    async def _send(self, content: bytes, seconds: float, spent: list[Usage]) -> bytes:
        """The body of one answer; raises ExchangeFault."""
        begun, calls = time.monotonic(), 1
        try:
            response = await self._client.post(self._url, content=content, timeout=time_limit(seconds))
        except Unreachable:
            calls = 0
            raise
        finally:
            spent.append(Usage(calls=calls, seconds=time.monotonic() - begun))
        status = response.status_code
        # What the service says of it is not repeated: it may quote the data.
        detail = f"status {status}"
        if status in REFUSED_STATUSES:
            raise Refused(detail)
        if fault := passing(status, detail, response.headers):
            raise fault
        if status != 200:
            at_fault = "api_key" if status in {401, 403} else "base_url"
            raise EndpointMisconfigured(f"{detail}; check {self._section}.{at_fault}")
        return response.content


def _total(spent: list[Usage]) -> Usage:
    return Usage.total(spent, seconds=sum(one.seconds for one in spent))


def _reply(body: bytes, question: Question[ReplyT]) -> ReplyT:
    try:
        reply = question.reply.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError:
        raise ModelFailed("the service's answer is no JSON", cause="judge_unusable") from None
    except ValidationError as error:
        # The place alone: the input is the service's, and may carry anything.
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"])) or "its top"
        detail = f"the service's answer is not of the form that is asked for, at {place}"
        raise ModelFailed(detail, cause="judge_unusable") from None
    if (complaint := question.complaint(reply)) is not None:
        raise ModelFailed(f"the service's answer cannot be used: {complaint}", cause="judge_unusable")
    return reply
