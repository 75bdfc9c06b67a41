"""Extractors that are not language models as subjects, and one that plays the sample records' subject."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping

from pydantic import ValidationError

from models.protocol import Answer, Model, ModelError, ModelFailed, Question, ReplyT
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

        Raises ModelFailed if it is asked anything else, or the callable raises or gives something else.
        """
        text = (question.data or {}).get("text")
        if not isinstance(text, str):
            detail = f"{self.name} extracts entities; it cannot answer '{question.task}'"
            raise ModelFailed(detail, cause="judge_failed")
        try:
            found = await asyncio.to_thread(self._extract, text)
            if isinstance(found, Awaitable):
                found = await found
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


_MOST = 3
"""As services do that return the first few of what they find: what is listed depends on what else there is."""
_NO_NAME = re.compile(r"(?:^|(?<=[.!?] ))(?:A|An|In|The) ")
_CAPITALS = re.compile(r"\b[A-Z][\w'’.-]*\w(?: [A-Z][\w'’.-]*\w)*|\b[A-Z]\b")


def stand_ins() -> dict[str, Model]:
    """By the `model` of the sample records."""
    return {"acme-extract-1": CallableSubject("stand-in/capitals", capitalised)}


def capitalised(text: str) -> list[str]:
    """Runs of words with a capital, the first three by the alphabet, in the order of the text."""
    runs = list(dict.fromkeys(_CAPITALS.findall(_NO_NAME.sub("", text))))
    return [run for run in runs if run in sorted(runs)[:_MOST]]
