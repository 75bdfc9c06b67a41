"""Trees from a Stanford CoreNLP server (englishPCFG) that the user runs, one request a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import orjson

from checkers.checker import Undecidable
from checkers.equivalence.trees import Node, Tree, TreeFault, from_brackets
from models.endpoint import BoundedClient, time_limit
from models.faults import ExchangeFault, Refused, TimedOut
from models.protocol import ModelUnavailable
from models.worktime import Phase

LONGEST = 80
"""Tokens of a sentence. Time and memory grow with their square and more: 60 take seconds, 150 take minutes, and some
hundred end the server."""

_PROPERTIES = orjson.dumps(
    {
        "annotators": "tokenize,ssplit,pos,parse",
        "ssplit.isOneSentence": "true",
        # Dependencies would take half of the server's time, and nothing here uses them.
        "parse.buildgraphs": "false",
        "parse.maxlen": str(LONGEST),
        "outputFormat": "json",
    }
).decode()
"""Properties of a request. Other properties would make the server load its models once more."""

_CONNECTIONS = 4
_ANSWER_SECONDS = 20.0
"""Time limit for one sentence; a common one takes 0.2 s."""
_PAUSE_SECONDS = 2.0
_OK = 200
_REFUSALS = frozenset({400, 413, 500})
"""The server answers 500 to a text that it cannot take."""
_PASSING = frozenset({408, 429, 502, 503, 504})


class CoreNLPParser:
    """Asks a server; while it gives no answer, records are held as for a model's endpoint."""

    name = "corenlp/englishPCFG"
    """The server's grammar; the server does not tell its version."""

    def __init__(self, url: str, *, seconds: float = _ANSWER_SECONDS) -> None:
        self._url = url
        self._seconds = seconds
        self._places = asyncio.Semaphore(_CONNECTIONS)
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        self._client = BoundedClient(url, headers=headers, trust_env=False)

    async def parse(self, sentence: str) -> Tree:
        # A lone surrogate is no text to any server; the sign in its place is no word either.
        content = sentence.encode("utf-8", "replace")
        url, properties = f"{self._url}/", {"properties": _PROPERTIES}
        with Phase("waits"):
            await self._places.acquire()
        try:
            limit = time_limit(self._seconds)
            response = await self._client.post(url, content=content, params=properties, timeout=limit)
        except Refused as fault:
            raise _unparsable(fault.detail) from None
        except ExchangeFault as fault:
            # The sentence is to blame if others get their trees meanwhile.
            detail = f"no CoreNLP server answers at {self._url} (equivalence.corenlp_url): {fault.detail}"
            raise _away(detail, suspect=isinstance(fault, TimedOut)) from None
        finally:
            self._places.release()
        status, body = response.status_code, response.content
        # The server's own words are not repeated: they may quote the text.
        if status in _PASSING or (status in _REFUSALS and b"timed out" in body):
            raise _away(f"the CoreNLP server at {self._url} has no time: HTTP {status}", suspect=True)
        if status in _REFUSALS:
            raise _unparsable(f"HTTP {status}")
        if status != _OK:
            raise _away(f"HTTP {status} from {self._url}: is a CoreNLP server there?")
        return _tree(sentence, _parsed(body, self._url))

    async def close(self) -> None:
        await self._client.aclose()


def _away(detail: str, *, suspect: bool = False) -> ModelUnavailable:
    return ModelUnavailable(detail, retry_after=_PAUSE_SECONDS, suspect=suspect)


def _unparsable(detail: str) -> Undecidable:
    return Undecidable("unparsable", f"the CoreNLP server has no tree for the sentence: {detail}")


def _parsed(body: bytes, url: str) -> dict[str, Any]:
    try:
        (found,) = orjson.loads(body)["sentences"]
        if isinstance(found["parse"], str) and isinstance(found["tokens"], list):
            return dict(found)
    except (ValueError, KeyError, TypeError):
        pass
    raise _away(f"{url} gave no parse: is a CoreNLP server there, with its English models?")


def _tree(sentence: str, found: dict[str, Any]) -> Tree:
    """The server's tree over the sentence's own characters."""
    place = _places(sentence)
    try:
        spans = [(place[one["characterOffsetBegin"]], place[one["characterOffsetEnd"]]) for one in found["tokens"]]
        root = from_brackets(found["parse"])
    except (TreeFault, KeyError, IndexError, TypeError) as error:
        raise _unparsable(f"its tree cannot be used ({error})") from None
    if root.end != len(spans):
        raise _unparsable(f"its tree has {root.end} tokens, its list {len(spans)}")
    if _is_given_up(root):
        raise _unparsable(f"it parses at most {LONGEST} tokens, or knows no analysis")
    return Tree(sentence, tuple(sentence[begin:end] for begin, end in spans), tuple(begin for begin, _ in spans), root)


def _is_given_up(root: Node) -> bool:
    """True for the server's answer to a sentence that is too long or that its grammar cannot make."""
    top = root.children[0] if root.label == "ROOT" and root.children else root
    return top.label == "X" and not any(node.children for node in top.children)


def _places(sentence: str) -> Sequence[int]:
    """From the places of UTF-16 units, in which the server counts, to those of characters."""
    units = accumulate((1 + (character > "\uffff") for character in sentence), initial=0)
    found = [0] * (2 * len(sentence) + 1)
    last = 0
    for index, unit in enumerate(units):
        found[unit] = index
        last = unit
    return found[: last + 1]
