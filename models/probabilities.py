"""The probability that a model gave to `true` at each boolean of its reply, from its tokens' log-probabilities."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

from models.completions import Completion
from models.protocol import Question, YesNo

if TYPE_CHECKING:
    from models.replies import ReadReply

ALTERNATIVES = 5
"""Tokens to ask for at each place: the two words and their spellings are the likeliest by far, and 5 is the most that
some endpoints give."""

_STRINGS = re.compile(rb'"((?:[^"\\]|\\.)*+)"(?:\s*:\s*(true|false)\b)?', re.DOTALL)
_BOOLEANS = (b"true", b"false")
_WORDS = (b"yes", b"no")


def probabilities_of(
    completion: Completion, reading: "ReadReply[Any]", question: Question[Any]
) -> tuple[float, ...] | None:
    """P(true) of each boolean of the reply that the question wants graded, or P(yes); None if there is none."""
    content, field = completion.content or "", question.graded
    if question.reply is YesNo:
        return _probabilities(completion.logprobs, content, reading.start, (0,), _WORDS)
    if field is None:
        return None
    found = probabilities_of_true(completion.logprobs, content, reading.start, reading.end, field)
    read = _booleans(reading.reply.model_dump(by_alias=True), field)
    # In a reply that was cut off, the last entry may have been given up after its boolean.
    if found is None or len(found) < read or (reading.complete and len(found) > read):
        return None
    return found[:read]


def _booleans(value: object, field: str) -> int:
    """The number of booleans called `field`, at any depth."""
    if isinstance(value, dict):
        own = isinstance(value.get(field), bool)
        return own + sum(_booleans(inner, field) for key, inner in value.items() if not own or key != field)
    return sum(_booleans(inner, field) for inner in value) if isinstance(value, list | tuple) else 0


def probabilities_of_true(logprobs: Any, content: str, start: int, end: int, field: str) -> tuple[float, ...] | None:
    """P(true) of each boolean called `field` in the JSON object at `content[start:end]`, in the order of the text.

    `logprobs` are a completion's, with alternatives for each token. A boolean is decided by the token in which its
    first letter stands: the probabilities of the alternatives with which it begins to be `true` count against those
    with which it begins to be `false`, whatever else the tokens hold. None if they do not cover
    the text or give no alternatives, or if neither word was likely: a grammar then forced one on the model, and the
    other may have been likelier.
    """
    places = _places(content[start:end].encode("utf-8", "surrogatepass"), field.encode())
    return _probabilities(logprobs, content, start, places, _BOOLEANS)


def _probabilities(
    logprobs: Any, content: str, start: int, places: Iterable[int], words: tuple[bytes, bytes]
) -> tuple[float, ...] | None:
    """P(the first of `words`) at each place, in bytes behind `content[:start]`."""
    try:
        tokens = logprobs["content"]
        texts = [_text(token) for token in tokens]
        written = b"".join(texts)
        # Thought that the endpoint kept back comes before the content, and an end mark may come after it.
        offset = written.rfind(content.encode("utf-8", "surrogatepass"))
        if offset < 0:
            return None
        first = offset + len(content[:start].encode("utf-8", "surrogatepass"))
        starts = list(accumulate(map(len, texts), initial=0))
        found = []
        for place in places:
            # Of tokens that begin there, all but the last are empty.
            number = bisect_right(starts, first + place) - 1
            found.append(_of_first(tokens[number], first + place - starts[number], words))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return None if None in found else cast("tuple[float, ...]", tuple(found))


def _places(text: bytes, field: bytes) -> Iterator[int]:
    """Offset of each boolean that is the value of `field`; in JSON, a quotation mark outside a string begins one."""
    for string in _STRINGS.finditer(text):
        if string[2] is not None and string[1] == field:
            yield string.start(2)


def _text(token: Any) -> bytes:
    given = token.get("bytes")
    return token["token"].encode("utf-8", "surrogatepass") if given is None else bytes(given)


def _of_first(token: Any, place: int, words: tuple[bytes, bytes]) -> float | None:
    """P(the first word) from the alternatives of the token in which it begins, at the offset `place`."""
    text = _text(token)
    others = {_text(other): _probability(other) for other in token["top_logprobs"]}
    alternatives = {text: _probability(token)} | others
    if len(alternatives) < 2:
        return None
    before = _plain(text[:place])
    first = second = 0.0
    for alternative, probability in alternatives.items():
        plain = _plain(alternative)
        word = plain[len(before) :]
        if word and plain.startswith(before):
            first += probability * _begins(word, words[0])
            second += probability * _begins(word, words[1])
    # No text that is not listed has a higher probability than those that are.
    least = min(others.values())
    if not (first and second) and first + second < least:
        return None
    if words is _WORDS:
        # One word is all that is written: how much likelier it was than the other one is the grade.
        first, second = first or least, second or least
    return first / (first + second) if first + second else None


def _probability(token: Any) -> float:
    return math.exp(min(token["logprob"], 0.0))


def _begins(word: bytes, whole: bytes) -> bool:
    return whole.startswith(word) or word.startswith(whole)


def _plain(text: bytes) -> bytes:
    """Without white space and letter case: ` True` is another token for the same word."""
    return b"".join(text.split()).lower()
