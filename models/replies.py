"""Reading a model's reply: one JSON object of the form asked for, or one word, with any text around it.

Models think aloud before they answer (`<think>…</think>`, also without the opening tag, which chat templates swallow),
put fences around JSON, and add a sentence before or after it. All that is passed over; thought is never read as an
answer. Within the object `"7"` is a number, `"true"` a boolean, and further keys are passed over; of a form that is
nothing but a list, the list alone will do.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from models.completions import Completion
from models.protocol import ModelFailed, Question, Role, YesNo
from models.wording import straightened

CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
"""Finish reasons of replies that reached the token limit: of OpenAI, of gateways to other APIs, of Mistral."""

_THOUGHT = re.compile(r"</?(?:think|thinking|thought|reasoning)>|\[/?THINK\]", re.IGNORECASE)
_VALUE = re.compile(r"\{(?=\s*\")|\[(?=\s*[\"{\[])")
_YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_BLANK_OF_FORM = re.compile(r"\s*(?:\.{3,}|…+)\s*")
_WORD = re.compile(r"\w+")
_FEWEST_WORDS = 3
"""Fewer may well be the answer that an example has, too."""
_SHOWN_FAULTS = 5
_CUT_OFF_SAID = "the reply was cut off at the token limit (max_tokens)"

_FormT = TypeVar("_FormT", bound=BaseModel)


class Unusable(ValueError):
    """A reply that is not of the form that was asked for; the message is for the model's second try and for people."""


@dataclass(frozen=True, slots=True)
class ReadReply(Generic[_FormT]):
    """A reply, and its place in the text."""

    reply: _FormT
    start: int
    """Offset of the object in the completion's content."""
    end: int
    """Offset behind it."""
    complete: bool = True
    """False if the completion was cut off, and the reply holds what was whole."""


def read_reply(completion: Completion, question: Question[_FormT], complained: str = "") -> ReadReply[_FormT]:
    """The reply of a completion; `complained` is what a repair turn said.

    Raises:
        Unusable: it has not the form of the question, is copied from it, or has the question's own complaint.
        ModelFailed: the model declined, a filter kept the reply back, or nothing was whole before the token limit.
    """
    reading = _read(completion, question)
    fault = _copied(reading.reply, question, complained)
    if fault is None and reading.complete:
        fault = question.complaint(reading.reply)
    if fault is not None:
        raise Unusable(fault)
    return reading


def lacks_room(completion: Completion, question: Question[Any]) -> bool:
    """True if the token limit was reached in a model's thought, or in its talk before the answer."""
    if completion.finish_reason not in CUT_OFF:
        return False
    try:
        _read(completion, question)
    except ModelFailed as failure:
        has_none = question.reply is YesNo or not any(map((completion.content or "").count, "{["))
        return failure.cause == "judge_cut_off" and (has_none or not failure.begun)
    except Unusable:
        pass
    return False


def answer_of(content: str) -> str:
    """The model's words without its thought."""
    start, end = _spoken(content)
    return content[start:end].strip()


def salvaging(form: type[_FormT], entries: str) -> Callable[[str], _FormT | None]:
    """A question's `salvage`: the form with as many objects of its list `entries` as the text holds whole.

    Every other field of the form needs a default.
    """

    def salvage(text: str) -> _FormT | None:
        with suppress(ValueError, TypeError, KeyError):
            # What was cut behind its last value is not whole either.
            value = from_json(text[: text.rfind("}") + 1], allow_partial=True)
            found = value if isinstance(value, list) else value[entries]
            for whole in (found, found[:-1]):
                with suppress(ValidationError):
                    return form.model_validate({entries: whole}, extra="ignore") if whole else None
        return None

    return salvage


def _read(completion: Completion, question: Question[_FormT]) -> ReadReply[_FormT]:
    reason, form = completion.finish_reason, question.reply
    if completion.refused or reason == "refusal":
        raise ModelFailed("the model declined to answer", cause="judge_refused")
    if reason.startswith("content_filter"):
        raise ModelFailed("the endpoint's content filter kept the reply back", cause="judge_filtered")
    if completion.called_tools:
        raise Unusable("the reply calls tools; none were offered")
    content = completion.content or ""
    if form is YesNo:
        return _word_of(content, form, is_cut_off=reason in CUT_OFF)
    fault = Unusable("the reply holds no JSON object" if content.strip() else "the reply is empty")
    if content.lstrip().startswith(("{", "[")):
        # By far the most replies are the object and nothing else.
        try:
            return ReadReply(_of_form(content, form), len(content) - len(content.lstrip()), len(content))
        except Unusable as unusable:
            fault = unusable
    start, end = _spoken(content)
    objects, broken = _objects(content, start, end, lists=_list_of(form) is not None)
    if reason in CUT_OFF:
        return _cut_off(content, slice(start, end), objects, broken, question)
    if content.strip() and not content[start:end].strip():
        raise Unusable("the reply is thought without an answer")
    return _only_one(content, start, objects, question, fault)


def _spoken(content: str) -> tuple[int, int]:
    """Where the text behind a model's thought begins and ends.

    A closing tag makes thought of all before it, whether it has an opening one or not.
    """
    start, end = 0, len(content)
    for tag in _THOUGHT.finditer(content):
        if "/" in tag[0]:
            start, end = tag.end(), len(content)
        else:
            end = min(end, tag.start())
    return start, end


def _objects(content: str, start: int, end: int, *, lists: bool = False) -> tuple[list[tuple[int, int]], int | None]:
    """Where each JSON object begins and ends that is no part of another value; and the last one without an end.

    `lists` count as objects.
    """
    found: list[tuple[int, int]] = []
    broken = None
    while mark := _VALUE.search(content, start, end):
        try:
            _, start = _PLAIN.raw_decode(content, mark.start())
            if lists or mark[0] == "{":
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


def _cut_off(
    content: str, spoken: slice, objects: list[tuple[int, int]], broken: int | None, question: Question[_FormT]
) -> ReadReply[_FormT]:
    """What is whole of a reply that reached the token limit."""
    if len(objects) == 1 and not content[objects[0][1] :].strip(" \t\r\n`"):
        # Some models end with white space without end.
        return ReadReply(_of_form(content[slice(*objects[0])], question.reply), *objects[0])
    if broken is not None and not objects and (reply := question.salvage(content[broken : spoken.stop])) is not None:
        return ReadReply(reply, broken, spoken.stop, complete=False)
    if content[spoken].strip():
        raise ModelFailed(_CUT_OFF_SAID, cause="judge_cut_off")
    said = "the token limit was reached before the reply began; a model that thinks first needs a larger max_tokens"
    raise ModelFailed(said, cause="judge_cut_off", begun=False)


def _only_one(
    content: str, start: int, objects: list[tuple[int, int]], question: Question[_FormT], fault: Unusable
) -> ReadReply[_FormT]:
    """The reading of the objects that have the form, if they are the same; else raise a fault."""
    readings: list[ReadReply[_FormT]] = []
    for begins, ends in objects:
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


def _stands_in(question: Question[Any], text: str) -> bool:
    """True if the question holds the text, as it is or in a string of JSON."""
    forms = [straightened(text), straightened(json.dumps(text, ensure_ascii=False)[1:-1])]
    shown = [straightened(message.content) for message in question.messages]
    return any(form in content for form in forms for content in shown)


def _word_of(content: str, form: type[_FormT], *, is_cut_off: bool) -> ReadReply[_FormT]:
    """The yes or no that a reply begins with, or the only one in it."""
    start, end = _spoken(content)
    found = list(_YES_OR_NO.finditer(content, start, end))
    words = {one[0].casefold() for one in found}
    opens = bool(found) and not any(map(str.isalnum, content[start : found[0].start()]))
    if opens or (len(words) == 1 and not is_cut_off):
        return ReadReply(form.model_validate({"yes": found[0][0].casefold() == "yes"}), *found[0].span())
    if is_cut_off:
        raise ModelFailed(_CUT_OFF_SAID, cause="judge_cut_off")
    raise Unusable("the reply is neither yes nor no")


def _copied(reply: BaseModel, question: Question[Any], complained: str) -> str | None:
    """What a reply has of the prompt in place of an answer, which small models give back; None if nothing."""
    strings = list(_strings(reply.model_dump(mode="json", by_alias=True)))
    if any(map(_BLANK_OF_FORM.fullmatch, strings)):
        return "the reply has '...' where its own words belong"
    if any(text.startswith("> ") for text in strings) and "> > " not in question.messages[-1].content:
        return "the reply repeats the mark of a quotation"
    if complained and any(complained in text for text in strings):
        return "the reply repeats what was said about the one before"
    if len(_WORD.findall(" ".join(strings))) >= _FEWEST_WORDS:
        shown = [one for message in question.messages[:-1] for one in _objects_in(message.role, message.content)]
        # What stands in the material is an answer, though an example may say the same.
        stands = all(text in question.messages[-1].content for text in strings)
        if not stands and any(_is_same(reply, one) for one in shown):
            return "the reply is the example of the prompt, and no answer to the question"
    return None


def _is_same(reply: BaseModel, example: str) -> bool:
    with suppress(Unusable):
        return reply == _of_form(example, type(reply))
    return False


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


@lru_cache(maxsize=256)
def _objects_in(role: Role, content: str) -> tuple[str, ...]:
    """The JSON objects of a turn of ours: the form, or an example."""
    found, _ = _objects(content, 0, 0 if role == "user" else len(content))
    return tuple(content[start:end] for start, end in found)


def _list_of(form: type[BaseModel]) -> str | None:
    """The name of the list that is all of a form."""
    ((name, only), *others) = form.model_fields.items() or [("", None)]
    return name if only is not None and not others and get_origin(only.annotation) in {list, tuple} else None


def _of_form(text: str, form: type[_FormT]) -> _FormT:
    try:
        value = _STRICT.decode(text)
        if isinstance(value, list) and (name := _list_of(form)) is not None:
            value = {name: value}
        return form.model_validate(value, extra="ignore")
    except ValidationError as error:
        raise Unusable(_faults(error)) from None
    except Unusable:
        raise
    except (ValueError, RecursionError) as error:
        raise Unusable(f"it is no JSON: {error}") from None


def _faults(error: ValidationError) -> str:
    # Places and messages only: the input is the model's, and may carry anything.
    faults = [
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault["loc"] else fault["msg"]
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "; ".join(faults[:_SHOWN_FAULTS])


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise Unusable("an object in the reply has the same key twice")
    return unique


def _no_constant(literal: str) -> None:
    raise Unusable(f"{literal} is not a JSON number")


_PLAIN = json.JSONDecoder()
_STRICT = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)
