"""Extractors that are no language models as subjects, for programs that use the checker as a library."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping

from pydantic import ValidationError

from models.protocol import Answer, ModelError, ModelFailed, Question, ReplyT
from schemas import Usage

Entity = str | Mapping[str, str]
"""An entity, alone or with its class: `{"class": "city", "entity": "Lagos"}`."""
Extract = Callable[[str], Iterable[Entity] | Awaitable[Iterable[Entity]]]
"""From a text to its entities; plain or async."""


class CallableSubject:
    """Any callable that finds entities, as a subject. A plain one runs in a thread, so that it may take its time."""

    def __init__(self, name: str, extract: Extract) -> None:
        self.name = name
        self._extract = extract

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The entities of the question's text.

        Raises:
            ModelFailed: the callable raised (`judge_failed`) or did not give entities (`judge_unusable`), or the
                question is about something else.
        """
        text = None if question.data is None else question.data.get("text")
        if not isinstance(text, str):
            raise ModelFailed(
                f"{self.name} extracts entities; it cannot answer '{question.task}'", cause="judge_failed"
            )
        try:
            if inspect.iscoroutinefunction(self._extract):
                found = await self._extract(text)
            else:
                found = await asyncio.to_thread(self._extract, text)
            reply = question.reply.model_validate({"entities": list(found)})
        except ModelError:
            raise
        except ValidationError:
            raise ModelFailed(f"{self.name} gave something else than entities", cause="judge_unusable") from None
        except Exception as error:
            # A stranger's code may raise anything: one record must not cost the others their verdicts.
            raise ModelFailed(f"{self.name} raised {type(error).__name__}", cause="judge_failed") from error
        return Answer(reply, Usage(calls=1))

    async def close(self) -> None:
        """Nothing is held open."""
