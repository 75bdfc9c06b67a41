"""Reading a chat endpoint's response: its completion, and in it one JSON object of the form asked for, or one word.

Models think aloud before they answer (`<think>…</think>`, also without the opening tag, which chat templates swallow),
put fences around JSON, and add a sentence before or after it. All that is passed over; thought is never read as an
answer. Within the object `"7"` is a number, `"true"` a boolean, and further keys are passed over.
"""

import json
import math
import re
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from models.endpoint import Transient
from models.protocol import ModelFailed, Question, YesNo
from models.wording import straightened
from schemas import Usage

# Finish reasons.
_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})  # of OpenAI, of gateways to other APIs, of Mistral
_BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})  # of gateways, of DeepSeek

_THOUGHT = re.compile(r"</?(?:think|thinking|thought|reasoning)>|\[/?THINK\]", re.IGNORECASE)
_VALUE = re.compile(r"\{(?=\s*\")|\[(?=\s*[\"{\[\]])")
_YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_BLANK_OF_FORM = re.compile(r"\s*(?:\.{3,}|…+)\s*")
_FEWEST_WORDS = 3  # fewer may well be the answer that an example has, too
_SHOWN_FAULTS = 5

_FormT = TypeVar("_FormT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, and how it ended."""

    content: str | None
    finish_reason: str = ""
    refused: bool = False
    logprobs: Any = None  # as they came
    counted: Usage = field(default_factory=Usage)  # the tokens, by the endpoint's own count, or 0


def completion_of(document: Any) -> Completion:
    """The completion of a response.

    Raises:
        Transient: the model did not come to an end.
        AttributeError, LookupError, TypeError, ValueError: it is something else.
    """
    usage = document.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    prompt, written, cached = (number if isinstance(number, int) else 0 for number in numbers)
    counted = Usage(prompt_tokens=prompt, completion_tokens=written, cached_tokens=min(cached, prompt))
    choice = document["choices"][0]
    reason = str(choice.get("finish_reason") or "")
    if reason in _BROKEN_OFF:
        raise Transient("the endpoint broke its reply off")
    message = choice.get("message")
    if message is None and reason.startswith("content_filter"):
        message = {}
    text = message.get("content")
    if isinstance(text, list):
        # Some gateways give it in parts, with thought among them.
        text = "".join(part["text"] for part in text if part["type"] == "text")
    content = text if isinstance(text, str) else None
    return Completion(content, reason, bool(message.get("refusal")), choice.get("logprobs"), counted)


class Unusable(ValueError):
    """A reply that is not of the form that was asked for; the message is for the model's second try and for people."""


@dataclass(frozen=True, slots=True)
class ReadReply(Generic[_FormT]):
    """A reply, and its place in the text."""

    reply: _FormT
    start: int  # of the object in the completion's content
    end: int
    complete: bool = True  # False if the completion was cut off, and the reply holds what was whole


def read_reply(completion: Completion, question: Question[_FormT], complained: str = "") -> ReadReply[_FormT]:
    """The reply of a completion; `complained` is what the repair turn said of the one before.

    Raises:
        Unusable: it has not the form of the question, is copied from it, or has the question's own complaint.
        ModelFailed: the model declined, a filter kept the reply back, or nothing was whole before the token limit.
    """
    if completion.refused or completion.finish_reason == "refusal":
        raise ModelFailed("the model declined to answer", cause="judge_refused")
    if completion.finish_reason.startswith("content_filter"):
        raise ModelFailed("the endpoint's content filter kept the reply back", cause="judge_filtered")
    content, is_cut_off = completion.content or "", completion.finish_reason in _CUT_OFF
    start, end = _spoken(content)
    if question.reply is YesNo:
        return _word_of(content, start, end, question.reply, is_cut_off=is_cut_off)
    reading = _object_of(content, start, end, question, is_cut_off=is_cut_off)
    fault = _copied(reading.reply, question, complained) or (reading.complete and question.complaint(reading.reply))
    if fault:
        raise Unusable(fault)
    return reading


def answer_of(content: str) -> str:
    """The model's words without its thought."""
    start, end = _spoken(content)
    return content[start:end].strip()


def _spoken(content: str) -> tuple[int, int]:
    """Where the text behind a model's thought begins and ends; a closing tag makes thought of all before it."""
    start, end = 0, len(content)
    for tag in _THOUGHT.finditer(content):
        if "/" in tag[0]:
            start, end = tag.end(), len(content)
        else:
            end = min(end, tag.start())
    return start, end


def _word_of(content: str, start: int, end: int, form: type[_FormT], *, is_cut_off: bool) -> ReadReply[_FormT]:
    """The yes or no that a reply begins with, or the only one in it."""
    found = list(_YES_OR_NO.finditer(content, start, end))
    opens = bool(found) and not any(map(str.isalnum, content[start : found[0].start()]))
    if opens or (len({one[0].casefold() for one in found}) == 1 and not is_cut_off):
        return ReadReply(form.model_validate({"yes": found[0][0].casefold() == "yes"}), *found[0].span())
    raise _cut_off(begun=False) if is_cut_off else Unusable("the reply is neither yes nor no")


def _object_of(
    content: str, start: int, end: int, question: Question[_FormT], *, is_cut_off: bool
) -> ReadReply[_FormT]:
    """The object of the form: if there are several, they must be the same."""
    places, broken = _objects(content, start, end)
    if is_cut_off and (len(places) != 1 or content[places[0][1] :].strip(" \t\r\n`")):
        # Some models end with white space without end; all others had more to say.
        if broken is not None and not places and (reply := _salvaged(content[broken:end], question)) is not None:
            return ReadReply(reply, broken, end, complete=False)
        raise _cut_off(begun=bool(places or broken is not None))
    readings = list[ReadReply[_FormT]]()
    fault = Unusable(f"the reply holds no JSON object{'' if content[start:end].strip() else ': it is empty'}")
    for begins, ends in places:
        text = content[begins:ends]
        if _FENCE.sub("", content[start:begins]).strip() and _stands_in(question, text):
            fault = Unusable("the reply quotes an object of the question and gives none of its own")
            continue
        try:
            readings.append(ReadReply(_of_form(text, question.reply), begins, ends))
        except Unusable as unusable:
            fault = unusable
    if any(one.reply != readings[0].reply for one in readings):
        raise Unusable("the reply holds several JSON objects of the form that was asked for, and they differ")
    if not readings:
        raise fault
    return readings[-1]


def _objects(content: str, start: int, end: int) -> tuple[list[tuple[int, int]], int | None]:
    """Where each JSON object begins and ends that is no part of another value; and the last one without an end."""
    found, broken = list[tuple[int, int]](), None
    while mark := _VALUE.search(content, start, end):
        try:
            _, start = json.JSONDecoder().raw_decode(content, mark.start())
            if mark[0] == "{":
                found.append((mark.start(), start))
        except RecursionError:
            return found, mark.start()
        except ValueError:
            # What follows may be its inside, up to a line that begins with its own bracket.
            broken = mark.start()
            start = content.find("\n{", mark.end(), end)
            if start < 0:
                break
    return found, broken


def _salvaged(text: str, question: Question[_FormT]) -> _FormT | None:
    """The form with as many entries of its list as the text holds whole; None if there are none."""
    with suppress(ValueError, TypeError, KeyError):
        # What was cut behind its last value is not whole either.
        found = from_json(text[: max(text.rfind("}"), text.rfind('"')) + 1], allow_partial=True)[question.salvage]
        for whole in (found, found[:-1]):
            with suppress(ValidationError):
                return question.reply.model_validate({question.salvage: whole}, extra="ignore") if whole else None
    return None


def _cut_off(*, begun: bool) -> ModelFailed:
    thinks = "the token limit was reached before the reply began; a model that thinks first needs a larger max_tokens"
    said = "the reply was cut off at the token limit (max_tokens)" if begun else thinks
    return ModelFailed(said, cause="judge_cut_off", begun=begun)


def _stands_in(question: Question[Any], text: str) -> bool:
    """True if the question holds the text, as it is or in a string of JSON."""
    shown = "\n".join(straightened(message.content) for message in question.messages)
    return straightened(text) in shown or straightened(json.dumps(text, ensure_ascii=False)[1:-1]) in shown


def _copied(reply: BaseModel, question: Question[Any], complained: str) -> str | None:
    """What a reply has of the prompt in place of an answer, which small models give back; None if nothing."""
    strings, (*shown, last) = _strings(reply.model_dump(mode="json", by_alias=True)), question.messages
    if any(map(_BLANK_OF_FORM.fullmatch, strings)):
        return "the reply has '...' where its own words belong"
    if any(text.startswith("> ") for text in strings) and "> > " not in last.content:
        return "the reply repeats the mark of a quotation"
    if complained and any(complained.casefold() in text.casefold() for text in strings):
        return "the reply repeats what was said about the one before"
    # What stands in the material is an answer, though an example may say the same.
    if len(re.findall(r"\w+", " ".join(strings))) < _FEWEST_WORDS or all(text in last.content for text in strings):
        return None
    for content in (message.content for message in shown if message.role != "user"):
        for start, end in _objects(content, 0, len(content))[0]:
            with suppress(Unusable):
                if reply == _of_form(content[start:end], type(reply)):
                    return "the reply is the example of the prompt, and no answer to the question"
    return None


def _strings(value: object) -> list[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [text for one in inner for text in _strings(one)]


def _of_form(text: str, form: type[_FormT]) -> _FormT:
    try:
        return form.model_validate_json(text, extra="ignore")
    except ValidationError as error:
        # Places and messages only: the input is the model's, and may carry anything.
        faults = error.errors(include_url=False, include_input=False, include_context=False)[:_SHOWN_FAULTS]
        said = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}".removeprefix(": ") for fault in faults)
        raise Unusable("; ".join(said)) from None
    except ValueError as error:
        raise Unusable(f"it is no JSON: {error}") from None


_BOOLEANS, _WORDS = (b"true", b"false"), (b"yes", b"no")


def probabilities_of(
    completion: Completion, reading: ReadReply[Any], question: Question[Any]
) -> tuple[float, ...] | None:
    """P(true) of each boolean of the reply that the question wants graded, or P(yes).

    A word is decided by the token in which its first letter is: alternatives that begin one of the words are compared.
    None if the endpoint gives no alternatives, or if neither word was likely: a grammar then forced one on the model.
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
        places = [first + place - starts[number] for number, place in zip(numbers, places, strict=True)]
        found = [_of_first(tokens[number], place, words) for number, place in zip(numbers, places, strict=True)]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return None if None in found else tuple(one for one in found if one is not None)


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
