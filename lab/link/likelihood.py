"""The likelihood of a sentence: the mean log-probability of its tokens, by a local model or one behind an endpoint."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx
import orjson

from models.model_loading import ModelThread, loading
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import EndpointSettings
from models.wording import first_line
from schemas import Usage

_BATCH = 16
"""Sentences in one forward pass: the log-probabilities of all words stand in memory for each token."""
_MOST_TOKENS = 512
_RETRY_SECONDS = 5.0
_REFUSED = frozenset({401, 403, 404})
"""Statuses that tell of a wrong key, model or address."""


class CausalModel:
    """A causal language model of transformers, on the GPU if there is one; belongs to one event loop."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        """`name` is that of the Hugging Face hub, or a folder's; what is not on this machine is downloaded now.

        Raises:
            ModelUnusable: there is no such model, or the packages of the extra `local` are missing.
        """
        self.name = name
        with loading("causal language model", name):
            from models.grounding.hub import Source, fetched

            folder = fetched(Source(name, None), say)
        self._thread: ModelThread[_Loaded] = ModelThread(name, lambda: _Loaded(name, folder))

    async def log_likelihoods(self, sentences: Sequence[str]) -> tuple[list[float], Usage]:
        """Tell for each sentence the mean log-probability of its tokens, in nats.

        Raises:
            ModelFailed: the model cannot be loaded.
        """
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
        coded = self._tokenizer(list(sentences), add_special_tokens=False, truncation=True, max_length=_MOST_TOKENS)
        rows = [self._begin + ids for ids in coded["input_ids"]]
        found: dict[int, float] = {}
        # Neighbours of one length are padded little.
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        for first in range(0, len(order), _BATCH):
            places = order[first : first + _BATCH]
            found.update(zip(places, self._means([rows[place] for place in places]), strict=True))
        return [found[place] for place in range(len(rows))], sum(map(len, rows))

    def _means(self, rows: Sequence[list[int]]) -> list[float]:
        import torch

        longest = max(2, *map(len, rows))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self._device)
        there = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self._device)[:, 1:]
        with torch.inference_mode():
            logits = self._model(input_ids=ids).logits[:, :-1].float()
        probabilities = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        means: list[float] = ((probabilities * there).sum(1) / there.sum(1).clamp(min=1)).tolist()
        return means


class EndpointScorer:
    """A model whose endpoint gives the log-probabilities of a prompt: `/completions` with `echo`."""

    def __init__(self, settings: EndpointSettings) -> None:
        self.name = f"openai/{settings.model}"
        self._settings = settings
        address = httpx.URL(str(settings.base_url))
        self._url = address.copy_with(path=f"{address.path.rstrip('/')}/completions")
        key = settings.api_key
        headers = httpx.Headers({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {})
        headers.update({name: value.get_secret_value() for name, value in settings.extra_headers.items()})
        self._client = httpx.AsyncClient(headers=headers, timeout=settings.timeout_seconds)
        self._places = asyncio.Semaphore(settings.concurrency)

    async def log_likelihoods(self, sentences: Sequence[str]) -> tuple[list[float], Usage]:
        """Tell for each sentence the mean log-probability of its tokens, the first aside, in nats.

        Raises:
            ModelUnavailable: the endpoint is down, throttles us, or refuses key, model or address.
            ModelFailed: it gives no log-probabilities.
        """
        # The least that every endpoint writes is a token; it is left out of the mean.
        asked = {"model": self._settings.model, "prompt": list(sentences), "max_tokens": 1, "temperature": 0}
        try:
            async with self._places:
                answer = await self._client.post(self._url, json={**asked, "echo": True, "logprobs": 1})
        except httpx.TransportError as error:
            raise ModelUnavailable(f"{self.name}: {first_line(error)}", retry_after=_RETRY_SECONDS) from None
        refused = answer.status_code in _REFUSED
        if refused or answer.status_code == 429 or answer.status_code >= 500:
            said = f"{self.name}: status {answer.status_code}"
            raise ModelUnavailable(said, retry_after=_RETRY_SECONDS, misconfigured=refused)
        try:
            document = orjson.loads(answer.content)
            by_place = {choice["index"]: choice["logprobs"] for choice in document["choices"]}
            found = [_mean(by_place[place], len(text)) for place, text in enumerate(sentences)]
            tokens = int((document.get("usage") or {}).get("prompt_tokens") or 0)
        except (LookupError, TypeError, ValueError, AttributeError):
            said = f"{self.name} gives no log-probabilities of a prompt (/completions with echo)"
            raise ModelFailed(f"{said}; status {answer.status_code}", cause="judge_unusable") from None
        return found, Usage(calls=1, prompt_tokens=tokens, cost=self._settings.cost(tokens))

    async def close(self) -> None:
        await self._client.aclose()


def _mean(logprobs: Any, length: int) -> float:
    """The mean over tokens of the prompt, which is so many characters long; the first one has none."""
    told, offsets = logprobs["token_logprobs"], logprobs["text_offset"]
    return fmean(
        one for one, offset in zip(told, offsets, strict=False) if one is not None and offset - offsets[0] < length
    )
