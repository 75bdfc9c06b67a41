"""A model behind an HTTP address that is no chat endpoint: it gets a question's data as JSON and answers as JSON."""

import time
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx
import orjson
from pydantic import JsonValue, ValidationError

from models.faults import REFUSED_STATUSES, EndpointMisconfigured, Refused, Unreachable, passing
from models.limits import TimeLimit
from models.posting import post
from models.protocol import Answer, OracleError, OracleFailed, Question, ReplyT
from models.retry import Retrying, retry_after
from models.settings import EndpointSettings
from schemas import Usage

_CONNECT_SECONDS = 10.0


class ServiceOracle:
    """Asks a service; belongs to one event loop."""

    def __init__(self, settings: EndpointSettings, *, section: str, retrying: Retrying) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings = settings
        self._section = section
        self._url = str(settings.base_url)
        self._retrying = retrying
        headers = {name: value.get_secret_value() for name, value in settings.extra_headers.items()}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self._client = httpx.AsyncClient(
            headers={"Content-Type": "application/json", **headers},
            limits=httpx.Limits(max_connections=settings.concurrency),
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            # Certificates take long to read: only for addresses that have one.
            verify=self._url.startswith("https:"),
        )

    @property
    def name(self) -> str:
        return f"service/{self._settings.model or urlsplit(self._url).netloc}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer to `question.data`, which is POSTed with the configured `extra_body`.

        Raises:
            OracleUnavailable: the service is down, throttles us, or refuses our key or address.
            OracleFailed: `judge_failed` if the question has no data, or the service refuses or fails on them;
                `judge_slow` if it answers others in time, but not these; `judge_unusable` if its answer has another
                form.
        """
        if question.data is None:
            detail = f"a service reads no prompts, and '{question.task}' is a question in words; configure an endpoint"
            raise OracleFailed(detail, cause="judge_failed")
        content = orjson.dumps({**self._settings.extra_body, **question.data})
        calls, taken = 0, 0.0

        async def attempt(seconds: float) -> bytes:
            nonlocal calls, taken
            calls += 1
            begun = time.monotonic()
            try:
                return await self._exchange(content, seconds)
            except Unreachable:
                calls -= 1
                raise
            finally:
                taken += time.monotonic() - begun

        limit = TimeLimit(self._settings.deadline_seconds)
        try:
            try:
                body = await self._retrying.run(
                    attempt, probe=self._probe, task=question.task, size=len(content), limit=limit
                )
            except Refused as refused:
                raise OracleFailed(f"the service refused: {refused.detail}", cause="judge_failed") from None
            reply = _reply(body, question)
        except OracleError as error:
            error.usage = Usage(calls=calls, seconds=taken)
            raise
        return Answer(reply, Usage(calls=calls, seconds=taken))

    async def close(self) -> None:
        await self._retrying.close()
        await self._client.aclose()

    async def _probe(self, seconds: float) -> None:
        """Ask with no data: a service that is there refuses that at once, or answers."""
        try:
            await self._exchange(b"{}", seconds)
        except Refused:
            return

    async def _exchange(self, content: bytes, seconds: float) -> bytes:
        response = await post(self._client, self._url, content, seconds=seconds)
        status = response.status
        # What the service says of it is not repeated: it may quote the data.
        detail = f"status {status}"
        if status in REFUSED_STATUSES:
            raise Refused(detail)
        if fault := passing(status, detail, retry_after=retry_after(response.headers, datetime.now(UTC))):
            raise fault
        if status != httpx.codes.OK:
            at_fault = "api_key" if status in {401, 403} else "base_url"
            raise EndpointMisconfigured(f"{detail}; check {self._section}.{at_fault}")
        return response.body


def _reply(body: bytes, question: Question[ReplyT]) -> ReplyT:
    try:
        document: JsonValue = orjson.loads(body)
        reply = question.reply.model_validate(document)
    except orjson.JSONDecodeError:
        raise OracleFailed("the service's answer is no JSON", cause="judge_unusable") from None
    except ValidationError as error:
        # The place alone: the input is the service's, and may carry anything.
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        raise OracleFailed(
            f"the service's answer is not of the form that is asked for, at {place or 'its top'}",
            cause="judge_unusable",
        ) from None
    if (complaint := question.complaint(reply)) is not None:
        raise OracleFailed(f"the service's answer cannot be used: {complaint}", cause="judge_unusable")
    return reply
