"""The models of a search: one names things, one judges statements, one says how likely a sentence is.

The likelihood of a sentence is the mean log-probability of its tokens.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Annotated, Any

import openai
from pydantic import BaseModel, ConfigDict, Field, create_model

from assay.cli.common import CannotRun, Progress
from assay.config import Configuration
from assay.kept_answers import KeptAnswers, KeptModel
from checkers.model_patience import ModelPatience
from models.build import build_model
from models.endpoint import client_options, request_headers
from models.prompts import QUESTIONS, PromptSet
from models.protocol import Answer, Message, ModelFailed, ModelUnavailable, Question, ReplyT
from models.settings import OMIT, EndpointSettings, JudgeSettings, SubjectSettings
from models.wording import first_line
from models.work import gather_or_cancel
from schemas import Usage, digest

_TEMPERATURE = 0.7  # the knowledge model's
_TOKENS_A_VALUE = 16
MOST_CHARACTERS = 120  # length of a value; longer ones explain themselves


class ValuesReply(BaseModel):
    """Things that fit a gap."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    values: list[str]


@cache
def _form(count: int) -> type[ValuesReply]:
    """The form that demands so many of an endpoint; a reply with fewer is taken as it is."""
    value: Any = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": MOST_CHARACTERS})]
    demanded = Field(json_schema_extra={"minItems": count, "maxItems": count})
    return create_model("ValuesReply", __base__=ValuesReply, values=(list[value], demanded))


_RETRY_SECONDS = 5.0
_REFUSED = frozenset({401, 403, 404})  # statuses that tell of a wrong key, model or address


class EndpointScorer:
    """A model whose endpoint gives the log-probabilities of a text by `/completions`.

    Of a prompt that is echoed (vLLM); or, where `echo` is ignored (llama.cpp), of a completion that a grammar forces to
    be the text, token by token. Both tell the same: the probability of each token after those before it, by the model
    itself. The first token has none.
    """

    def __init__(self, settings: EndpointSettings) -> None:
        self.name = f"openai/{settings.model}"
        self._settings = settings
        # Keys in further headers would go where a redirection leads.
        http = openai.DefaultAsyncHttpxClient(follow_redirects=False)
        options = client_options(settings)
        self._client = openai.AsyncOpenAI(**options, timeout=settings.timeout_seconds, max_retries=0, http_client=http)
        self._places = asyncio.Semaphore(settings.concurrency)
        self._echoes = True
        """False once the endpoint has been seen to ignore `echo`."""

    async def log_likelihoods(self, sentences: Sequence[str]) -> tuple[list[float], Usage]:
        """Tell for each sentence the mean log-probability of its tokens, the first aside, in nats.

        Raises:
            ModelUnavailable: the endpoint is down, throttles us, or refuses key, model or address.
            ModelFailed: it gives no log-probabilities.
        """
        try:
            spent: list[Any] = []
            if self._echoes:
                # The least that every endpoint writes is a token; it is left out of the mean.
                answer = await self._answer(prompt=list(sentences), max_tokens=1, echo=True)
                spent.append(answer.usage)
                by_place = {choice.index: choice.logprobs for choice in answer.choices}
                self._echoes = getattr(by_place[0], "content", None) is None
            if self._echoes:
                found = [_mean(by_place[place], len(text)) for place, text in enumerate(sentences)]
            else:
                told = await gather_or_cancel(map(self._forced, sentences))
                found = [mean for mean, _ in told]
                spent += [usage for _, usage in told]
        except openai.APIConnectionError as error:
            said = f"{self.name}: {first_line(error.__cause__ or error)}"
            raise ModelUnavailable(said, retry_after=_RETRY_SECONDS) from None
        except (LookupError, TypeError, ValueError, AttributeError, openai.APIError) as error:
            status = error.status_code if isinstance(error, openai.APIStatusError) else 200
            refused = status in _REFUSED
            said = f"{self.name} gives no log-probabilities of a text (/completions, echo or grammar); status {status}"
            if refused or status == 429 or status >= 500:
                raise ModelUnavailable(said, retry_after=_RETRY_SECONDS, misconfigured=refused) from None
            raise ModelFailed(said, cause="judge_unusable") from None
        counts = ("prompt_tokens", "completion_tokens")
        read, written = (sum(getattr(one, name, 0) or 0 for one in spent) for name in counts)
        cost = self._settings.cost_of(read, written)
        return found, Usage(calls=len(spent), prompt_tokens=read, completion_tokens=written, cost=cost)

    async def _forced(self, text: str) -> tuple[float, Any]:
        """The mean of a text that llama.cpp writes because it may write nothing else, and the usage."""
        address = f"{str(self._settings.base_url).rstrip('/').removesuffix('/v1')}/tokenize"
        async with self._places:
            tokens = (await self._client.post(address, cast_to=dict[str, Any], body={"content": text}))["tokens"]
        grammar = f"root ::= {' '.join(f'<[{token}]>' for token in tokens[1:])}"
        answer = await self._answer(prompt=tokens[:1], max_tokens=len(tokens) - 1, extra_body={"grammar": grammar})
        written = answer.choices[0].logprobs.content
        if [one["id"] for one in written] != tokens[1:]:
            raise ValueError("the completion is another text")
        return fmean(max(one["logprob"], _LEAST) for one in written), answer.usage

    async def _answer(self, **asked: Any) -> Any:
        async with self._places:
            return await self._client.completions.create(
                model=str(self._settings.model),
                temperature=0,
                logprobs=1,
                extra_headers=request_headers(self._settings),
                **asked,
            )

    async def close(self) -> None:
        await self._client.close()


_LEAST = -50.0  # the log-probability of what a model rules out: that is no number, or the smallest there is


def _mean(logprobs: Any, length: int) -> float:
    """The mean over tokens of the prompt, which is so many characters long; the first one has none."""
    told, offsets = logprobs.token_logprobs, logprobs.text_offset
    return fmean(
        one for one, offset in zip(told, offsets, strict=False) if one is not None and offset - offsets[0] < length
    )


_SCORER_BATCH = 16  # sentences in one request: the log-probabilities of all words stand in memory for each token


Scorers = Mapping[str, str | None]
"""Names of the one that ranks, `scorer`, and perhaps of the one that measures, `measurer`."""


class SearchModels(PromptSet):
    """Knowledge model, critic and scorer, asked through the file of answers; belongs to one event loop.

    Questions are put together from what was answered before, and never from the order in which answers came: a build
    that was broken off asks the same ones again, and finds them answered.
    """

    package = "lab.link.prompts"

    def __init__(self, configured: Configuration, scorers: Scorers, kept: KeptAnswers, shown: Progress) -> None:
        """Raises CannotRun for a model that is not configured, or cannot do what it is to do."""
        super().__init__()
        critic = _endpoint_of(configured, "judge", "the critic")
        named = {role: name for role, name in scorers.items() if name is not None}
        self._scorers = {role: _scorer(configured, name, f"--{role}") for role, name in named.items()}
        if len({one.name for one in self._scorers.values()}) < len(named):
            raise CannotRun("--measurer is the scorer, which finds apart what it ranked; name another model")
        self.failures: Counter[str] = Counter()
        """Questions without a usable answer, by cause; they are asked again by the next build."""
        # Values are to be of many sorts.
        temperature = OMIT if critic.temperature == OMIT else _TEMPERATURE
        knowledge = build_model(critic.model_copy(update={"temperature": temperature}))
        self._knowledge = KeptModel(knowledge, kept, "knowledge")
        self._critic = KeptModel(build_model(critic), kept, "critic")
        self._scored = dict.fromkeys(named, Usage())
        self._kept = kept
        self._patience = ModelPatience(shown.say)
        self._shown, self._step = shown, 0

    @property
    def costs(self) -> dict[str, Usage]:
        """Cost of the answers by role, those of earlier processes included."""
        return {"knowledge": self._knowledge.usage, "critic": self._critic.usage, **self._scored}

    def begin(self, note: str) -> None:
        """Begin the next step of the progress bar."""
        self._shown.at(self._step, note)
        self._step += 1

    async def aclose(self) -> None:
        """Close the models."""
        models: list[KeptModel | EndpointScorer] = [self._knowledge, self._critic, *self._scorers.values()]
        for one in models:
            await one.close()

    async def values(
        self, sentences: Sequence[str], data_type: str, *, count: int, earlier: Sequence[Sequence[str]]
    ) -> list[str] | None:
        """Ask for `count` values of a data type with which all `sentences` are true, behind the `earlier` lists.

        None if there is no usable reply.
        """
        question = self._question(
            "values",
            "longtail.values",
            _form(count),
            {"sentences": "\n".join(f"{one}." for one in sentences)},
            {"count": str(count), "type": data_type},
            salvage="values",
            written=_TOKENS_A_VALUE * count // 2,
            max_tokens=_TOKENS_A_VALUE * (count + 2),
        )
        more = self._question("other_values", "longtail.values", ValuesReply, {}, {"count": str(count)}).messages[-1]
        replies = (Message("assistant", ValuesReply(values=list(one)).model_dump_json()) for one in earlier)
        turns = [turn for reply in replies for turn in (reply, more)]
        answer = await self._asked(self._knowledge, replace(question, messages=(*question.messages, *turns)))
        return None if answer is None else answer.reply.values

    async def probabilities(self, statements: Sequence[str]) -> list[float | None]:
        """Ask for the critic's probability that each statement is true; None if it gave no usable answer."""

        async def judged(statement: str) -> float | None:
            question = QUESTIONS.word("true_statement", "longtail.critic", {"statement": statement})
            answer = await self._asked(self._critic, question)
            if answer is None:
                return None
            return answer.probabilities[0] if answer.probabilities else float(answer.reply.yes)

        return await gather_or_cancel(map(judged, statements))

    async def log_likelihoods(self, sentences: Sequence[str], by: str = "scorer") -> Mapping[str, float]:
        """Tell for each sentence the mean log-probability of its tokens; nothing if there is no such scorer."""
        found: dict[str, float] = {}
        if (scorer := self._scorers.get(by)) is None:
            return found

        async def score(some: Sequence[str]) -> None:
            key = digest(["scorer", scorer.name, some])
            if (told := self._kept.find(key)) is None:
                means, usage = await self._patience.until_answered(lambda: scorer.log_likelihoods(some))
                told = [means, usage.model_dump()]
                self._kept.add(key, told)
            self._scored[by] += Usage(**told[1])
            found.update(zip(some, told[0], strict=True))

        new = list(dict.fromkeys(sentences))
        batches = [new[first : first + _SCORER_BATCH] for first in range(0, len(new), _SCORER_BATCH)]
        await gather_or_cancel(map(score, batches))
        return found

    async def _asked(self, model: KeptModel, question: Question[ReplyT]) -> Answer[ReplyT] | None:
        try:
            return await self._patience.until_answered(lambda: model.ask(question))
        except ModelFailed as error:
            self.failures[error.cause] += 1
            return None


def _endpoint_of(configured: Configuration, name: str, role: str) -> JudgeSettings | SubjectSettings:
    """The settings of `judge`, or of a subject, as the model for this role."""
    if name == "judge" and configured.judge.backend == "local":
        raise CannotRun(f"{role} is the judge, and the local judge compares texts: set judge.backend = 'openai'")
    endpoint = configured.judge if name == "judge" else configured.subjects.get(name)
    if endpoint is None:
        names = ", ".join(["judge", *configured.subjects])
        raise CannotRun(f"{role}: there is no model {name!r}; configured are {names}")
    if endpoint.backend == "service":
        raise CannotRun(f"{role}: {name!r} is a service, and no model that reads prompts")
    return endpoint


def _scorer(configured: Configuration, name: str, role: str) -> EndpointScorer:
    kind, _, model = name.partition(":")
    if kind != "endpoint":
        raise CannotRun(f"{role} {name}: allowed are endpoint:judge and endpoint:SUBJECT")
    settings = _endpoint_of(configured, model, role)
    if settings.base_url is None:
        raise CannotRun(f"{role}: {model!r} has no base_url")
    return EndpointScorer(settings)
