"""A model behind an HTTP address that is no chat endpoint: it gets a question's data as JSON and answers as JSON."""

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson
from pydantic import JsonValue, ValidationError

from models.breaker import BreakerListener
from models.endpoint import BoundedClient, time_limit
from models.faults import REFUSED_STATUSES, EndpointMisconfigured, Refused, Unreachable, passing
from models.flow import Flow, TimeLimit
from models.limiter import Size
from models.protocol import Answer, ModelError, ModelFailed, Question, ReplyT
from models.settings import EndpointSettings
from schemas import Usage


@dataclass(slots=True)
class _ServiceRequest:
    content: bytes
    calls: int = 0
    seconds: float = 0.0


class ServiceModel:
    """Asks a service; belongs to one event loop."""

    def __init__(self, settings: EndpointSettings, *, section: str, on_breaker: BreakerListener | None = None) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings = settings
        self._section = section
        self._url = str(settings.base_url)
        headers = {name: value.get_secret_value() for name, value in settings.extra_headers.items()}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self._client = BoundedClient(self._url, headers={"Content-Type": "application/json", **headers})
        name = f"{section} {settings.model or 'service'}"
        self._flow = Flow(self, settings, name=name, on_breaker=on_breaker)

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
        request = _ServiceRequest(orjson.dumps({**self._settings.extra_body, **question.data}))
        size = Size(question.written, len(request.content))
        try:
            reply = _reply(
                await self._flow.run(request, size=size, limit=TimeLimit(self._settings.deadline_seconds)), question
            )
        except (ModelError, asyncio.CancelledError) as error:
            error.usage = Usage(calls=request.calls, seconds=request.seconds)  # type: ignore[union-attr]
            raise
        except Refused as refused:
            usage = Usage(calls=request.calls, seconds=request.seconds)
            raise ModelFailed(f"the service refused: {refused.detail}", cause="judge_failed", usage=usage) from None
        return Answer(reply, Usage(calls=request.calls, seconds=request.seconds))

    async def close(self) -> None:
        await self._client.aclose()

    async def probe(self, seconds: float) -> None:
        """Ask with no data: a service that is there refuses that at once, or answers."""
        await self.send(_ServiceRequest(b"{}"), seconds)

    async def send(self, request: _ServiceRequest, seconds: float) -> bytes:
        """The body of one answer; raises ExchangeFault."""
        begun = time.monotonic()
        request.calls += 1
        try:
            response = await self._client.post(self._url, content=request.content, timeout=time_limit(seconds))
        except Unreachable:
            request.calls -= 1
            raise
        finally:
            request.seconds += time.monotonic() - begun
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


def _reply(body: bytes, question: Question[ReplyT]) -> ReplyT:
    try:
        document: JsonValue = orjson.loads(body)
        reply = question.reply.model_validate(document)
    except orjson.JSONDecodeError:
        raise ModelFailed("the service's answer is no JSON", cause="judge_unusable") from None
    except ValidationError as error:
        # The place alone: the input is the service's, and may carry anything.
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        raise ModelFailed(
            f"the service's answer is not of the form that is asked for, at {place or 'its top'}",
            cause="judge_unusable",
        ) from None
    if (complaint := question.complaint(reply)) is not None:
        raise ModelFailed(f"the service's answer cannot be used: {complaint}", cause="judge_unusable")
    return reply
