"""The probability that a model gave to `true` at each boolean of its reply, from its tokens' log-probabilities."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

ALTERNATIVES = 5
"""Tokens to ask for at each place: the two words and their spellings are the likeliest by far, and 5 is the most that
some endpoints give."""

_STRINGS = re.compile(rb'"((?:[^"\\]|\\.)*+)"(?:\s*:\s*(true|false)\b)?', re.DOTALL)
_WORDS = (b"true", b"false")


class _Token(NamedTuple):
    text: bytes
    start: int
    """Offset among the bytes of all tokens."""
    alternatives: dict[bytes, float]
    """Probability by text, its own included."""
    unlisted: float
    """The highest probability that a text may have which is not among them."""


def probabilities_of_true(logprobs: Any, content: str, start: int, end: int, field: str) -> tuple[float, ...] | None:
    """P(true) of each boolean called `field` in the JSON object at `content[start:end]`, in the order of the text.

    `logprobs` are a completion's, with alternatives for each token. A boolean is decided by the token in which its
    first letter stands: the probabilities of the alternatives with which it begins to be `true` count against those
    with which it begins to be `false`, whatever else the tokens hold and wherever they end. None if they do not cover
    the text or give no alternatives, or if neither word was likely: a grammar then forced one on the model, and the
    other may have been likelier.
    """
    tokens = _tokens(logprobs)
    if tokens is None:
        return None
    written = b"".join(token.text for token in tokens)
    # Thought that the endpoint kept back stands before the content, and an end mark may stand behind it.
    offset = written.rfind(content.encode("utf-8", "surrogatepass"))
    if offset < 0:
        return None
    first = offset + len(content[:start].encode("utf-8", "surrogatepass"))
    places = _places(content[start:end].encode("utf-8", "surrogatepass"), field.encode())
    starts = [token.start for token in tokens]
    found = []
    for place in places:
        token = tokens[bisect_right(starts, first + place) - 1]
        probability = _of_true(token, first + place - token.start)
        if probability is None:
            return None
        found.append(probability)
    return tuple(found)


def _places(text: bytes, field: bytes) -> Iterator[int]:
    """Offset of each boolean that is the value of `field`; in JSON, a quotation mark outside a string begins one."""
    for string in _STRINGS.finditer(text):
        if string[2] is not None and string[1] == field:
            yield string.start(2)


def _tokens(logprobs: Any) -> list[_Token] | None:
    try:
        listed = [
            (_text(one), one["logprob"], {_text(other): other["logprob"] for other in one["top_logprobs"]})
            for one in logprobs["content"]
        ]
        starts = accumulate((len(text) for text, _, _ in listed), initial=0)
        return [
            _Token(
                text,
                start,
                {one: math.exp(min(value, 0.0)) for one, value in ({text: own} | others).items()},
                math.exp(min(0.0, *others.values())) if others else 1.0,
            )
            for (text, own, others), start in zip(listed, starts, strict=False)
            if text
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _text(token: Any) -> bytes:
    given = token.get("bytes")
    return token["token"].encode("utf-8", "surrogatepass") if given is None else bytes(given)


def _of_true(token: _Token, place: int) -> float | None:
    """P(true) from the alternatives of the token in which the word begins, at the offset `place`."""
    if len(token.alternatives) < 2:
        return None
    before = _plain(token.text[:place])
    true = false = 0.0
    for text, probability in token.alternatives.items():
        plain = _plain(text)
        word = plain[len(before) :]
        if word and plain.startswith(before):
            true += probability * _begins(word, _WORDS[0])
            false += probability * _begins(word, _WORDS[1])
    if not (true and false) and true + false < token.unlisted:
        return None
    return true / (true + false) if true + false else None


def _begins(word: bytes, whole: bytes) -> bool:
    return whole.startswith(word) or word.startswith(whole)


def _plain(text: bytes) -> bytes:
    """Without white space and letter case: ` True` is another token for the same word."""
    return b"".join(text.split()).lower()
