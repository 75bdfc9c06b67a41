"""A model behind an HTTP address that is no chat endpoint: it gets a question's data as JSON and answers as JSON."""

from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from models.chat import ChatModel, Turn
from models.protocol import Answer, ModelFailed, Question, ReplyT
from models.replies import Completion
from schemas import Usage


class ServiceModel(ChatModel):
    """Asks a service: `question.data` are POSTed with the configured `extra_body`, and nothing is repaired."""

    _repairs = False

    @property
    def name(self) -> str:
        return f"service/{self._settings.model or urlsplit(str(self._settings.base_url)).netloc}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """As of an endpoint; raises ModelFailed, too, if the question has no data."""
        if question.data is None:
            detail = f"a service reads no prompts, and '{question.task}' is a question in words; configure an endpoint"
            raise ModelFailed(detail, cause="judge_failed")
        return await super().ask(question)

    @property
    def _address(self) -> str:
        return str(self._client.base_url).rstrip("/")

    def _body(self, turn: Turn) -> dict[str, Any]:
        return dict(turn.question.data or {})

    def _read(self, turn: Turn, response: httpx.Response) -> Completion:
        return Completion(response.text)

    def _shown(self, turn: Turn, said: str) -> str:
        # It may quote the data.
        return ""

    def _cost(self, turn: Turn) -> Usage:
        return Usage(calls=int(turn.has_left), seconds=turn.seconds)
