"""The probability that a model gave to `true` at each boolean of its reply, or to a yes, from its tokens' own."""

import math
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Any

from models.protocol import Question, YesNo
from models.replies import Completion, ReadReply

ALTERNATIVES = 5
"""Tokens to ask for at each place: the two words and their spellings are the likeliest by far, and 5 is the most that
some endpoints give."""

_BOOLEANS, _WORDS = (b"true", b"false"), (b"yes", b"no")


def probabilities_of(
    completion: Completion, reading: ReadReply[Any], question: Question[Any]
) -> tuple[float, ...] | None:
    """P(true) of each boolean of the reply that the question wants graded, or P(yes).

    A word is decided by the token in which its first letter stands: the probabilities of the alternatives with which it
    begins to be the first word count against those with which it begins to be the other, whatever else the tokens hold.
    None if the endpoint gives no alternatives, or if neither word was likely: a grammar then forced one on the model,
    and the other may have been likelier.
    """
    content, words, places = completion.content or "", _WORDS, [0]
    if question.reply is not YesNo:
        if question.graded is None:
            return None
        # Within a string of JSON, the quotation mark behind the key would have a backslash before it.
        key = re.compile(rb'"%s"\s*:\s*(?=true\b|false\b)' % question.graded.encode())
        text = content[reading.start : reading.end].encode("utf-8", "surrogatepass")
        places, words = [found.end() for found in key.finditer(text)], _BOOLEANS
        read = len(key.findall(reading.reply.model_dump_json(by_alias=True).encode()))
        # In a reply that was cut off, the last entry may have been given up after its boolean.
        if len(places) < read or (reading.complete and len(places) > read):
            return None
        places = places[:read]
    try:
        tokens = completion.logprobs["content"]
        texts = [_text(token) for token in tokens]
        # Thought that the endpoint kept back comes before the content, and an end mark may come after it.
        offset = b"".join(texts).rfind(content.encode("utf-8", "surrogatepass"))
        if offset < 0:
            return None
        first = offset + len(content[: reading.start].encode("utf-8", "surrogatepass"))
        starts = list(accumulate(map(len, texts), initial=0))
        # Of tokens that begin there, all but the last are empty.
        numbers = [bisect_right(starts, first + place) - 1 for place in places]
        found = [
            _of_first(tokens[number], first + place - starts[number], words)
            for number, place in zip(numbers, places, strict=True)
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


def _of_first(token: Any, place: int, words: tuple[bytes, bytes]) -> float | None:
    """P(the first word) from the alternatives of the token in which it begins, at the offset `place`."""
    text = _text(token)
    others = {_text(other): math.exp(min(other["logprob"], 0.0)) for other in token["top_logprobs"]}
    alternatives = {text: math.exp(min(token["logprob"], 0.0))} | others
    if len(alternatives) < 2:
        return None
    before, sums = _plain(text[:place]), [0.0, 0.0]
    for alternative, probability in alternatives.items():
        word = _plain(alternative).removeprefix(before)
        if word and _plain(alternative).startswith(before):
            for side, whole in enumerate(words):
                sums[side] += probability * (whole.startswith(word) or word.startswith(whole))
    # No text that is not listed has a higher probability than those that are.
    least, (first, second) = min(others.values()), sums
    if not (first and second) and first + second < least:
        return None
    if words is _WORDS:
        # One word is all that is written: how much likelier it was than the other one is the grade.
        first, second = first or least, second or least
    return first / (first + second) if first + second else None


def _text(token: Any) -> bytes:
    given = token.get("bytes")
    return token["token"].encode("utf-8", "surrogatepass") if given is None else bytes(given)


def _plain(text: bytes) -> bytes:
    """Without white space and letter case: ` True` is another token for the same word."""
    return b"".join(text.split()).lower()
