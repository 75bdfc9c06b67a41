"""The probability that a model gave to `true` at each boolean of its reply, or to a yes, from its tokens' own."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from models.completions import Completion
from models.protocol import Question, YesNo

if TYPE_CHECKING:
    from models.replies import ReadReply

ALTERNATIVES = 5
"""Tokens to ask for at each place: the two words and their spellings are the likeliest by far, and 5 is the most that
some endpoints give."""

_BOOLEANS, _WORDS = (b"true", b"false"), (b"yes", b"no")


def probabilities_of(
    completion: Completion, reading: "ReadReply[Any]", question: Question[Any]
) -> tuple[float, ...] | None:
    """P(true) of each boolean of the reply that the question wants graded, or P(yes).

    A word is decided by the token in which its first letter stands: the probabilities of the alternatives with which it
    begins to be the first word count against those with which it begins to be the other, whatever else the tokens hold.
    None if the endpoint gives no alternatives, or if neither word was likely: a grammar then forced one on the model,
    and the other may have been likelier.
    """
    content, field = completion.content or "", question.graded
    if question.reply is YesNo:
        return _probabilities(completion.logprobs, content, reading.start, (0,), _WORDS)
    if field is None:
        return None
    # Within a string of JSON, the quotation mark behind the key would have a backslash before it.
    key = re.compile(rb'"%s"\s*:\s*(?=true\b|false\b)' % field.encode())
    text = content[reading.start : reading.end].encode("utf-8", "surrogatepass")
    places = [found.end() for found in key.finditer(text)]
    read = len(key.findall(reading.reply.model_dump_json(by_alias=True).encode()))
    # In a reply that was cut off, the last entry may have been given up after its boolean.
    if len(places) < read or (reading.complete and len(places) > read):
        return None
    return _probabilities(completion.logprobs, content, reading.start, places[:read], _BOOLEANS)


def _probabilities(
    logprobs: Any, content: str, start: int, places: Iterable[int], words: tuple[bytes, bytes]
) -> tuple[float, ...] | None:
    """P(the first of `words`) at each place, in bytes behind `content[:start]`."""
    try:
        tokens = logprobs["content"]
        texts = [_text(token) for token in tokens]
        # Thought that the endpoint kept back comes before the content, and an end mark may come after it.
        offset = b"".join(texts).rfind(content.encode("utf-8", "surrogatepass"))
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
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


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


def _text(token: Any) -> bytes:
    given = token.get("bytes")
    return token["token"].encode("utf-8", "surrogatepass") if given is None else bytes(given)


def _probability(token: Any) -> float:
    return math.exp(min(token["logprob"], 0.0))


def _begins(word: bytes, whole: bytes) -> bool:
    return whole.startswith(word) or word.startswith(whole)


def _plain(text: bytes) -> bytes:
    """Without white space and letter case: ` True` is another token for the same word."""
    return b"".join(text.split()).lower()
