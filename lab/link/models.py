"""The models of a search: one names things, one judges statements, one says how likely a sentence is.

The likelihood of a sentence is the mean log-probability of its tokens, by a local model or one behind an endpoint.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import openai
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import from_json

from assay.cli.common import Progress
from checkers.model_patience import ModelPatience
from lab.kept_answers import KeptAnswers, KeptModel
from models.concurrent import gather_or_cancel
from models.endpoint import client_options, request_headers
from models.judges.questions import QUESTIONS
from models.model_loading import ModelThread, loading
from models.prompts import PromptSet
from models.protocol import Answer, Model, ModelFailed, ModelUnavailable, Question, ReplyT
from models.settings import EndpointSettings
from models.wording import first_line
from schemas import Usage, digest

_TOKENS_A_VALUE = 16
MOST_CHARACTERS = 120
"""Length of a value; longer ones explain themselves."""


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


class LinkPrompts(PromptSet):
    """Makes the question for values from its template."""

    package = "lab.link.prompts"

    def values(
        self, sentences: Sequence[str], data_type: str, *, count: int, call: int, named: Sequence[str]
    ) -> Question[ValuesReply]:
        """Ask for `count` values of a data type with which all `sentences` are true, and none of `named`.

        `call` counts the calls for one gap from 1, so that no two of them are the same question.
        """
        form = _form(count)

        def salvage(text: str) -> ValuesReply | None:
            try:
                return form.model_validate(from_json(text, allow_partial=True))
            except ValueError:
                return None

        return self._question(
            "values",
            "longtail.values",
            form,
            {"sentences": "\n".join(f"{one}." for one in sentences), "named": ", ".join(named) or "nothing"},
            {"count": str(count), "type": data_type, "call": str(call)},
            salvage=salvage,
            written=_TOKENS_A_VALUE * count // 2,
            max_tokens=_TOKENS_A_VALUE * (count + 2),
        )


_MOST_TOKENS = 512
_RETRY_SECONDS = 5.0
_REFUSED = frozenset({401, 403, 404})
"""Statuses that tell of a wrong key, model or address."""


class CausalModel:
    """A causal language model of transformers, on the GPU if there is one; belongs to one event loop."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        """`name` is that of the Hugging Face hub, or a folder's; what is not on this machine is downloaded now."""
        self.name = name
        with loading("causal language model", name):
            from models.grounding.hub import Source, fetched

            folder = fetched(Source(name, None), say)
        self._thread: ModelThread[_Loaded] = ModelThread(name, lambda: _Loaded(name, folder))

    async def log_likelihoods(self, sentences: Sequence[str]) -> tuple[list[float], Usage]:
        """Tell for each sentence the mean log-probability of its tokens, in nats, by one forward pass."""
        model = await self._thread.model()
        found, tokens = await self._thread.run(lambda: model.log_likelihoods(sentences))
        return found, Usage(prompt_tokens=tokens)

    async def close(self) -> None:
        self._thread.close()


class _Loaded:
    def __init__(self, name: str, folder: Path) -> None:
        with loading("causal language model", name):
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer

            self._device = "cuda" if torch.cuda.is_available() else "cpu"
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, use_safetensors=True)
            self._model.to(self._device).eval()
        known = (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id)
        self._begin: list[int] = [one for one in known if one is not None][:1]
        """Stands before a sentence, so that its first word has a probability, too."""

    def log_likelihoods(self, sentences: Sequence[str]) -> tuple[list[float], int]:
        """Means over tokens, and the number of all tokens."""
        import torch

        coded = self._tokenizer(list(sentences), add_special_tokens=False, truncation=True, max_length=_MOST_TOKENS)
        rows = [self._begin + ids for ids in coded["input_ids"]]
        longest = max(2, *map(len, rows))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self._device)
        there = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self._device)[:, 1:]
        with torch.inference_mode():
            logits = self._model(input_ids=ids).logits[:, :-1].float()
        probabilities = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        means: list[float] = ((probabilities * there).sum(1) / there.sum(1).clamp(min=1)).tolist()
        return means, sum(map(len, rows))


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
        read, written = (sum(getattr(one, name, 0) or 0 for one in spent) for name in _COUNTS)
        cost = self._settings.cost(read, written)
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


_COUNTS = ("prompt_tokens", "completion_tokens")
_LEAST = -50.0
"""The log-probability of what a model rules out: that is no number, or the smallest there is."""


def _mean(logprobs: Any, length: int) -> float:
    """The mean over tokens of the prompt, which is so many characters long; the first one has none."""
    told, offsets = logprobs.token_logprobs, logprobs.text_offset
    return fmean(
        one for one, offset in zip(told, offsets, strict=False) if one is not None and offset - offsets[0] < length
    )


Scorer = CausalModel | EndpointScorer
"""Says how likely sentences are."""

_SCORER_BATCH = 16
"""Sentences in one request: the log-probabilities of all words stand in memory for each token."""


class SearchModels:
    """Knowledge model, critic and scorer, asked through the file of answers; belongs to one event loop.

    Questions are put together from what was answered before, and never from the order in which answers came: a build
    that was broken off asks the same ones again, and finds them answered.
    """

    def __init__(
        self,
        knowledge: Model,
        critic: Model,
        scorers: Mapping[str, Scorer],
        kept: KeptAnswers,
        shown: Progress,
    ) -> None:
        """`scorers` are the one that ranks, `scorer`, and perhaps the one that measures, `measurer`."""
        self.prompts = LinkPrompts()
        self.failures: Counter[str] = Counter()
        """Questions without a usable answer, by cause; they are asked again by the next build."""
        self._knowledge = KeptModel(knowledge, kept, "knowledge")
        self._critic = KeptModel(critic, kept, "critic")
        self._scorers = scorers
        self._scored = dict.fromkeys(scorers, Usage())
        self._kept = kept
        self._patience = ModelPatience(shown.say)
        self._judged: dict[str, float] = {}
        self._shown = shown
        self._step = 0

    @property
    def costs(self) -> dict[str, Usage]:
        """Cost of the answers by role, those of earlier processes included."""
        return {"knowledge": self._knowledge.usage, "critic": self._critic.usage, **self._scored}

    def begin(self, note: str) -> None:
        """Begin the next step of the progress bar."""
        self._shown.at(self._step, note)
        self._step += 1

    async def close(self) -> None:
        for model in (self._knowledge, self._critic, *self._scorers.values()):
            await model.close()

    async def values(self, questions: Sequence[Question[ValuesReply]]) -> list[list[str]]:
        """Ask for the values of each reply, as they came; none if there is no usable one."""

        async def named(question: Question[ValuesReply]) -> list[str]:
            answer = await self._asked(self._knowledge, question)
            return [] if answer is None else answer.reply.values

        return await gather_or_cancel([named(one) for one in questions])

    async def probabilities(self, statements: Sequence[str]) -> list[float | None]:
        """Ask for the critic's probability that each statement is true; None if it gave no usable answer."""

        async def judge(statement: str) -> None:
            question = QUESTIONS.word("true_statement", "longtail.critic", {"statement": statement})
            answer = await self._asked(self._critic, question)
            if answer is not None:
                self._judged[statement] = answer.probabilities[0] if answer.probabilities else float(answer.reply.yes)

        await gather_or_cancel([judge(one) for one in dict.fromkeys(statements) if one not in self._judged])
        return [self._judged.get(one) for one in statements]

    async def log_likelihoods(self, sentences: Sequence[str], by: str = "scorer") -> Mapping[str, float]:
        """Tell for each sentence the mean log-probability of its tokens; nothing if there is no such scorer."""
        found: dict[str, float] = {}
        scorer = self._scorers.get(by)
        if scorer is None:
            return found

        async def score(some: Sequence[str]) -> None:
            key = digest(["scorer", scorer.name, some])
            told = self._kept.find(key)
            if told is None:
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
