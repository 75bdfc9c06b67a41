"""Trees from a Stanford CoreNLP server (englishPCFG), one request a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import orjson

from checkers.checker import Undecidable
from checkers.equivalence.trees import Node, Tree, TreeFault, from_brackets
from models.endpoint import BoundedClient, post
from models.faults import EndpointMisconfigured, Refused, TimedOut, Transient, Unreachable
from models.flow import Flow, Size, TimeLimit
from models.protocol import OracleFailed

LONGEST = 80
"""Tokens of a sentence. Time and memory grow with their square and more: 60 take seconds, 150 take minutes, and some
hundred end the server."""

PROPERTIES = orjson.dumps(
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

_ATTEMPTS = 3
_REFUSALS = frozenset({400, 413, 500})
"""The server answers 500 to a text that it cannot take."""
_PASSING = frozenset({408, 429, 502, 503, 504})


class CoreNLPParser:
    """Asks a server; while it is down, records are held as for an oracle's endpoint."""

    name = "corenlp/englishPCFG"
    """The server's grammar; the server does not tell its version."""

    def __init__(self, url: str, *, connections: int, timeout_seconds: float) -> None:
        self._url = url
        self._timeout = timeout_seconds
        self._client = BoundedClient(
            url, places=connections, headers={"Content-Type": "text/plain; charset=utf-8"}, trust_env=False
        )
        self._flow = Flow(
            self,
            name=f"the CoreNLP server at {url}",
            concurrency=connections,
            max_attempts=_ATTEMPTS,
            timeout_seconds=timeout_seconds,
        )

    async def parse(self, sentence: str) -> Tree:
        limit = TimeLimit(2 * self._timeout)
        try:
            tree: Tree = await self._flow.run(sentence, size=Size(0, len(sentence)), limit=limit)
            return tree
        except Refused as fault:
            raise Undecidable(
                "unparsable", f"the CoreNLP server has no tree for the sentence: {fault.detail}"
            ) from None
        except OracleFailed as fault:
            raise Undecidable("unparsable", f"the CoreNLP server gave no tree: {fault.detail}") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def probe(self, seconds: float) -> None:
        """Ask for the tree of a word."""
        await self.send("Yes.", seconds)

    async def send(self, sentence: str, seconds: float) -> Tree:
        """The tree of a sentence; raises ExchangeFault."""
        # A lone surrogate is no text to any server; the sign in its place is no word either.
        content = sentence.encode("utf-8", "replace")
        try:
            response = await post(
                self._client, f"{self._url}/", content, seconds=seconds, params={"properties": PROPERTIES}
            )
        except Unreachable:
            raise Unreachable(f"no connection to {self._url}; start one with `assay corenlp`") from None
        status = response.status_code
        if status in _PASSING:
            raise Transient(f"HTTP {status}")
        if status in _REFUSALS:
            # The server's own words are not repeated: they may quote the text.
            if b"timed out" in response.content:
                raise TimedOut("the server ran out of the time that it gives a sentence")
            raise Refused(f"HTTP {status}")
        if status != 200:
            raise EndpointMisconfigured(f"HTTP {status} from {self._url}: is a CoreNLP server there?")
        return _tree(sentence, _parsed(response.content, self._url))


def _parsed(body: bytes, url: str) -> dict[str, Any]:
    try:
        (found,) = orjson.loads(body)["sentences"]
        if isinstance(found["parse"], str) and isinstance(found["tokens"], list):
            return dict(found)
    except (ValueError, KeyError, TypeError):
        pass
    raise EndpointMisconfigured(f"{url} gave no parse: is a CoreNLP server there, with its English models?")


def _tree(sentence: str, found: dict[str, Any]) -> Tree:
    """The server's tree over the sentence's own characters."""
    place = _places(sentence)
    try:
        spans = [(place[one["characterOffsetBegin"]], place[one["characterOffsetEnd"]]) for one in found["tokens"]]
        root = from_brackets(found["parse"])
    except (TreeFault, KeyError, IndexError, TypeError) as error:
        raise Refused(f"its tree cannot be used ({error})") from None
    if root.end != len(spans):
        raise Refused(f"its tree has {root.end} tokens, its list {len(spans)}")
    if _is_given_up(root):
        raise Refused(f"it parses at most {LONGEST} tokens, or knows no analysis")
    return Tree(sentence, tuple(sentence[begin:end] for begin, end in spans), tuple(begin for begin, _ in spans), root)


def _is_given_up(root: Node) -> bool:
    """True for the server's answer to a sentence that is too long or that its grammar cannot make."""
    top = root.children[0] if root.label == "ROOT" and root.children else root
    return top.label == "X" and not any(node.children for node in top.children)


def _places(sentence: str) -> Sequence[int]:
    """From the places of UTF-16 units, in which the server counts, to those of characters."""
    if all(character <= "\uffff" for character in sentence):
        return range(len(sentence) + 1)
    units = accumulate((1 + (character > "\uffff") for character in sentence), initial=0)
    found = [0] * (2 * len(sentence) + 1)
    last = 0
    for index, unit in enumerate(units):
        found[unit] = index
        last = unit
    return found[: last + 1]
