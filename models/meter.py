"""Around every model: the cost meter, the cache with its single flight, and the recorder.

A recording is JSON lines: an `exchange` is one request to an endpoint with what came back, for people; an `answer`,
with a `reply` or a `failure`, is how a question ended, for replaying. The endpoint's key is in none of them; prompts
and replies are, so the file deserves the protection that they do.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from operator import methodcaller
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import orjson
import structlog
from cachetools import TTLCache
from pydantic import BaseModel, ValidationError

from models import protocol
from models.protocol import Answer, AnswerT, Claims, Grades, Judge, Model, ModelError, ModelFailed, Question, ReplyT
from models.work import Flight, book, joined, note
from schemas import Usage
from schemas.evidence import SelfTestFigure

_LOG = structlog.get_logger(__name__)


class Journal:
    """A file of JSON lines to append to, made with the first of them."""

    def __init__(self, path: Path) -> None:
        self._path, self._failing = path, False

    def write(self, line: dict[str, Any]) -> None:
        """Append a line, which then survives the end of the process; a full disk is logged, and stops no checking."""
        as_json, options = methodcaller("model_dump", mode="json"), orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
        data = orjson.dumps({"at": datetime.now(UTC), **line}, as_json, options)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+", buffering=0) as file:
                # A killed process may have left its last line unfinished.
                is_torn = file.tell() and file.seek(-1, 2) and file.read(1) != b"\n"
                file.write(b"\n" + data if is_torn else data)
        except OSError as error:
            if not self._failing:
                _LOG.exception("recording_failed", file=str(self._path), reason=error.strerror)
            self._failing = True


def request_digest(question: Question[Any]) -> str:
    """Digest (256 bits, hex) of all that bears on the answer but the model; a question's number is appended as `/3`."""
    form: type[BaseModel] = question.reply
    messages = [(one.role, one.content) for one in question.messages]
    parts = [question.task, question.prompt_version, messages, _form_digest(form), question.max_tokens]
    digest = _digest(parts + [question.graded] * bool(question.graded))
    return digest if question.number is None else f"{digest}/{question.number}"


def _digest(parts: Sequence[object]) -> str:
    try:
        data = orjson.dumps(parts)
    except TypeError:  # lone surrogates: no text for an endpoint, but the local judge may be asked
        data = repr(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=32).hexdigest()


@lru_cache(maxsize=256)
def _form_digest(form: type[BaseModel]) -> str:
    schema = orjson.dumps(form.model_json_schema(), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(schema).hexdigest()


class Replay:
    """Answers as the recorded model did, the last time that it was asked; usage counts each answer as cached."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError if the file is missing, is no recording, or holds the answers of several models."""
        try:
            # After the last line end comes nothing, or a line whose writing was cut short.
            *lines, _ = path.read_bytes().split(b"\n")
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
        self.name, self._path, self._endings = "", path, dict[str, dict[str, Any]]()
        for number, line in enumerate(lines, start=1):
            with suppress(orjson.JSONDecodeError):  # of a line torn by a killed process, closed by the next one
                match document := orjson.loads(line):
                    case {"type": "answer", "judge": str(name), "digest": str(digest)}:
                        if self.name not in {"", name}:
                            # Their questions have the same digests.
                            raise ValueError(f"{path}:{number}: of {name}, and others are of {self.name}")
                        self.name, self._endings[digest] = name, document
                    case {"type": "exchange"}:
                        pass
                    case _:
                        raise ValueError(f"{path}:{number}: not a line of a recording")
        if not self.name:
            raise ValueError(f"{path}: holds no answers")

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The recorded answer; raises ModelFailed if there is none, or if it was a failure."""
        digest, usage = request_digest(question), Usage(cached=1)
        ending, asked = self._endings.get(digest), f"the {question.task} question {digest}"
        if ending is None:
            raise ModelFailed(f"the recording {self._path} has no answer to {asked}", cause="judge_failed")
        if failure := ending.get("failure"):
            raise (protocol.WindowExceeded if "asked" in failure else ModelFailed)(**{**failure, "usage": usage})
        try:
            reply = question.reply.model_validate(ending.get("reply"))
        except ValidationError:
            said = f"the recorded answer to {asked} is not of the form that is asked for"
            raise ModelFailed(said, cause="judge_unusable") from None
        given = ending.get("probabilities")
        return Answer(reply, usage, None if given is None else tuple(given))

    async def close(self) -> None: ...


_KEPT, _KEPT_SECONDS = 4096, 3600.0  # answers in memory, the least recently used go first; how long each stays
InnerT = TypeVar("InnerT", bound=Model | Judge)

Ending = Literal["answered", "failed", "unavailable", "left"]
"""`failed`: with no answer to be used. `unavailable`: the model cannot be asked for now. `left`: nobody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRequest:
    """One request to a model: how it ended, and what it cost."""

    model: str
    task: str
    ending: Ending
    usage: Usage
    waited: float  # seconds: for its turn, a pause of the endpoint or the loading of the model


UsageListener = Callable[[EndedRequest], None]


@dataclass(eq=False, repr=False)
class _Metered(Generic[InnerT]):
    """A model whose every request is booked, however it ends; belongs to one event loop.

    Identical requests are made once, also while the first of them is under way. A failure is raised to all who wait for
    it and then forgotten.
    """

    inner: InnerT
    _: KW_ONLY
    cached: bool = True  # else each request is made by itself
    journal: Journal | None = None
    on_usage: UsageListener | None = None
    charged: bool = True  # else it is on no bill
    is_subject: bool = False
    temperature: float | str | None = None

    def __post_init__(self) -> None:
        self._flights: dict[str, Flight[Any]] = {}
        self._answers: TTLCache[str, Answer[Any]] = TTLCache(_KEPT, _KEPT_SECONDS, timer=time.monotonic)

    @property
    def name(self) -> str:
        return self.inner.name

    async def close(self) -> None:
        await self.inner.close()

    async def _paid(self, task: str, digest: str, ask: Callable[[], Awaitable[Answer[AnswerT]]]) -> Answer[AnswerT]:
        """The answer to a request, known or still to come; the first to have it pays for it."""
        if self.journal is not None:
            # A recording has several answers to one question under its digest.
            note(digest.partition("/")[0])
        begun = time.monotonic()
        if self.cached and (known := self._answers.get(digest)) is not None:
            self._book(task, "answered", Usage(cached=1), begun)
            return replace(known, usage=Usage(cached=1))
        fresh = partial(self._fresh, task, digest, ask)
        flight = joined(self._flights, digest, fresh) if self.cached else Flight(asyncio.create_task(fresh()))
        try:
            result = await flight.result()
        except asyncio.CancelledError:
            work = flight.work
            if work.done() and not (flight.waiters or flight.is_taken or work.cancelled() or work.exception()):
                # The last one leaves: it has cost what it has cost.
                self._book(task, "left", getattr(work.result(), "usage", Usage()), begun)
            raise
        is_first, flight.is_taken = not flight.is_taken, True
        if isinstance(result, asyncio.CancelledError):
            raise result
        usage = result.usage if is_first else Usage(cached=1, seconds=time.monotonic() - begun)
        if isinstance(result, Answer):
            self._book(task, "answered", usage, begun)
            return replace(result, usage=usage)
        self._book(task, "unavailable" if isinstance(result, protocol.ModelUnavailable) else "failed", usage, begun)
        raise result if is_first else replace(result, usage=usage)

    async def _fresh(
        self, task: str, digest: str, ask: Callable[[], Awaitable[Answer[AnswerT]]]
    ) -> Answer[AnswerT] | ModelError | asyncio.CancelledError:
        """The answer of the model itself, kept and recorded, or why there is none."""
        ending: Answer[AnswerT] | ModelError | asyncio.CancelledError
        try:
            self._answers[digest] = ending = await ask()
        except (ModelError, asyncio.CancelledError) as error:
            ending = error
        if self.journal is not None and isinstance(ending, Answer | ModelFailed):
            line: dict[str, Any] = {"type": "answer", "judge": self.name, "task": task, "digest": digest}
            if isinstance(ending, Answer):
                line |= {"reply": ending.reply, "usage": ending.usage, "probabilities": ending.probabilities}
            else:
                line["failure"] = vars(ending)
            self.journal.write(line)
        return ending

    def _book(self, task: str, ending: Ending, usage: Usage, begun: float) -> None:
        if self.charged:
            book(usage.model_copy(update={"subject_calls": usage.calls}) if self.is_subject else usage)
        # What came from the cache, or from another's question, waited for no model.
        waited = 0.0 if usage.cached else max(time.monotonic() - begun - usage.seconds, 0.0)
        if self.on_usage is not None:
            self.on_usage(EndedRequest(model=self.name, task=task, ending=ending, usage=usage, waited=waited))


class MeteredModel(_Metered[Model]):
    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        return await self._paid(question.task, request_digest(question), partial(self.inner.ask, question))


class MeteredJudge(_Metered[Judge]):
    """Around a judge of this process."""

    @property
    def version(self) -> str:
        return self.inner.version

    @property
    def self_test(self) -> SelfTestFigure | None:
        return self.inner.self_test

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        return await self._paid(task, _digest([task, claims]), partial(self.inner.grade, task, claims))
