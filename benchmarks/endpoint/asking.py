"""One-word and short questions to an endpoint, by prompts with worked examples; answers are kept in a file."""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from assay.cli.front_door import CannotRun

Message = dict[str, str]

ABSENT = -20.0
"""The log-probability of a word that is not among the likeliest twenty."""
_TURN = re.compile(r"=== *(\w+) *===")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(slots=True)
class Spent:
    """What the questions about a row took."""

    calls: int = 0
    new: int = 0
    """Tokens that the endpoint read without having them cached."""
    written: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Kept:
    """Results by form and row in a file of JSON lines, from which an interrupted run goes on."""

    path: Path
    _known: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._known = dict(json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines())

    def get(self, key: str) -> list[float] | None:
        return self._known.get(key)

    def put(self, key: str, values: list[float]) -> list[float]:
        """Keep it, at once on disk."""
        self._known[key] = values
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, values]) + "\n")
        return values


class Endpoint:
    """Chat completions of one model."""

    def __init__(self, base_url: str, model: str) -> None:
        self.model = model
        self._http = httpx.Client(base_url=base_url.rstrip("/") + "/", timeout=900)

    def ask(self, messages: Sequence[Message], spent: Spent, tokens: int = 1) -> tuple[str, dict[str, float]]:
        """The reply, and the log-probabilities of its first word's alternatives.

        Raises:
            CannotRun: no usable answer; what was kept so far stays.
        """
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": tokens}
        try:
            response = self._http.post("chat/completions", json=body | {"logprobs": True, "top_logprobs": 20})
            response.raise_for_status()
            found = response.json()
            choice, usage = found["choices"][0], found["usage"]
            first = choice["logprobs"]["content"][0]["top_logprobs"]
        except (httpx.HTTPError, LookupError, TypeError, ValueError) as error:
            raise CannotRun(f"no usable answer ({error!r}); run again to go on") from error
        spent.calls += 1
        spent.new += usage["prompt_tokens"] - (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        spent.written += usage["completion_tokens"]
        spent.seconds += response.elapsed.total_seconds()
        return choice["message"]["content"], {one["token"]: one["logprob"] for one in first}

    def odds(self, messages: Sequence[Message], spent: Spent) -> float:
        """The log-probability of yes less that of no, spellings summed."""
        _, words = self.ask(messages, spent)
        return _mass(words, "yes") - _mass(words, "no")


def _mass(words: dict[str, float], word: str) -> float:
    mass = sum(math.exp(value) for token, value in words.items() if token.strip().lower() == word)
    return math.log(mass) if mass else ABSENT


@dataclass(frozen=True, slots=True)
class Prompt:
    """Turns of `prompts/NAME.txt`; the last one has placeholders."""

    turns: tuple[Message, ...]
    digest: str

    @classmethod
    def named(cls, name: str) -> "Prompt":
        text = (Path(__file__).parent / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
        _, *parts = _TURN.split(text)
        turns = [
            {"role": role, "content": content.strip("\n")}
            for role, content in zip(parts[::2], parts[1::2], strict=True)
        ]
        return cls(tuple(turns), hashlib.sha256(text.encode()).hexdigest()[:8])

    def filled(self, **values: str) -> list[Message]:
        """The messages, with texts in the place of the last turn's placeholders."""
        last = _PLACEHOLDER.sub(lambda found: values[found[1]], self.turns[-1]["content"])
        return [*self.turns[:-1], {"role": "user", "content": last}]
