"""A model behind an HTTP address that is no chat endpoint: it gets a question's data as JSON and answers as JSON."""

from contextlib import AbstractAsyncContextManager, nullcontext
from urllib.parse import urlsplit

import orjson

from models.completions import Completion
from models.endpoint import Endpoint, Exchange, http_client
from models.faults import Refused
from models.flow import Attempts, BreakerListener
from models.protocol import Answer, ModelFailed, Question, ReplyT
from models.replies import Unusable, read_reply
from models.settings import EndpointSettings
from schemas import Usage


class ServiceModel(Endpoint):
    """Asks a service."""

    def __init__(self, settings: EndpointSettings, *, section: str, on_breaker: BreakerListener | None = None) -> None:
        super().__init__(settings, section, self._probe, on_breaker)
        self._url = str(settings.base_url)
        headers = {name: value.get_secret_value() for name, value in settings.extra_headers.items()}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self._client = http_client(self._url, {"Content-Type": "application/json", **headers})

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
        with self._charged(spent):
            try:
                async for attempt in self._flow.retrying(run):
                    with attempt:
                        body = await self._send(content, spent, self._flow.slot(run))
                reading = read_reply(Completion(body.decode(errors="replace")), question)
            except Unusable as unusable:
                detail = f"the service's answer cannot be used: {unusable}"
                raise ModelFailed(detail, cause="judge_unusable") from None
            except Refused as refused:
                raise ModelFailed(f"the service refused: {refused.detail}", cause="judge_failed") from None
        return Answer(reading.reply, self._usage(spent))

    async def close(self) -> None:
        await self._client.aclose()

    async def _probe(self, seconds: float) -> None:
        """Ask with no data: a service that is there refuses that at once, or answers."""
        await self._send(b"{}", self._probes, nullcontext(seconds))

    async def _send(self, content: bytes, spent: list[Usage], slot: AbstractAsyncContextManager[float]) -> bytes:
        """The body of one answer; raises ExchangeFault."""
        exchange = Exchange(content)
        async with slot as seconds:
            try:
                async with exchange.within(seconds):
                    response = await self._client.post(self._url, content=exchange.body(), headers=exchange.length)
            finally:
                spent.append(Usage(calls=int(exchange.has_left), seconds=exchange.seconds))
            if response.status_code != 200:
                # What the service says of it is not repeated: it may quote the data.
                raise self._fault(response.status_code, response.headers)
            return response.content
