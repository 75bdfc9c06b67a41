"""Reading a model's reply: one JSON object of the form asked for, with any text around it.

Models think aloud before they answer (`<think>…</think>`, also without the opening tag, which chat templates swallow),
put fences around JSON, and add a sentence before or after it. All that is passed over; thought is never read as an
answer. Within the object `"7"` is a number, `"true"` a boolean, and further keys are passed over; of a form that is
nothing but a list, the list alone will do.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from models.completions import Completion
from models.prompts import TAG_NOTICE
from models.protocol import ModelFailed, Question, ReplyT, Role, YesNo
from models.sampling import CAUSES_OF_ONE_REPLY
from models.wording import straightened

CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
"""Finish reasons of replies that reached the token limit: of OpenAI, of gateways to other APIs, of Mistral."""

_TAG = r"</?(?:think|thinking|thought|reasoning)>|\[/?THINK\]"
_MARK = re.compile(rf"{_TAG}|\{{(?=\s*\")|\[(?=\s*[\"{{\[])", re.IGNORECASE)
"""A tag, or a bracket with which JSON may begin."""
_MARK_BEHIND_BROKEN = re.compile(rf"{_TAG}|(?<=\n)\{{(?=\s*\")", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
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
        ModelFailed: as `_read`.
    """
    reading = _read(completion, question)
    fault = _copied(reading.reply, question, complained)
    if fault is None and reading.complete:
        fault = question.complaint(reading.reply)
    if fault is not None:
        raise Unusable(fault)
    return reading


def usable_or_none(completion: Completion, question: Question[ReplyT]) -> ReplyT | None:
    """The reply of one of several completions; None if it cannot be used."""
    try:
        return read_reply(completion, question).reply
    except Unusable:
        return None
    except ModelFailed as error:
        if error.cause not in CAUSES_OF_ONE_REPLY:
            raise
        return None


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


def _read(completion: Completion, question: Question[_FormT]) -> ReadReply[_FormT]:
    """The reply of a completion.

    Raises:
        Unusable: it has not the form of the question, with what is wrong.
        ModelFailed: the model declined, a filter kept the reply back, or nothing was whole before the token limit.
    """
    reason = completion.finish_reason
    if completion.refused or reason == "refusal":
        raise ModelFailed("the model declined to answer", cause="judge_refused")
    if reason.startswith("content_filter"):
        raise ModelFailed("the endpoint's content filter kept the reply back", cause="judge_filtered")
    if completion.called_tools:
        raise Unusable("the reply calls tools; none were offered")
    content = completion.content or ""
    if question.reply is YesNo:
        return _word_of(content, question.reply, is_cut_off=reason in CUT_OFF)
    start = len(content) - len(content.lstrip())
    if content.startswith(("{", "["), start):
        # By far the most replies are the object and nothing else.
        try:
            return ReadReply(_of_form(content[start:], question.reply), start, len(content))
        except Unusable as fault:
            bare_fault = fault
    else:
        bare_fault = Unusable("the reply holds no JSON object" if content.strip() else "the reply is empty")
    spoken = _spoken(content, lists=_list_of(question.reply) is not None)
    if reason in CUT_OFF:
        return _cut_off(content, spoken, question)
    return _among_prose(content, spoken, question, bare_fault)


def _copied(reply: BaseModel, question: Question[Any], complained: str) -> str | None:
    """What a reply has of the prompt in place of an answer, which small models give back; None if nothing."""
    value = reply.model_dump(mode="json", by_alias=True)
    strings = list(_strings(value))
    if any(map(_BLANK_OF_FORM.fullmatch, strings)):
        return "the reply has '...' where its own words belong"
    tags = [notice[1] for message in question.messages if (notice := TAG_NOTICE.match(message.content))]
    if any(tag in text for tag in tags for text in strings):
        return "the reply repeats a marker that stands around the material"
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
    if role == "user":
        return ()
    return tuple(content[start:end] for start, end in _spoken(content).objects)


def _word_of(content: str, form: type[_FormT], *, is_cut_off: bool) -> ReadReply[_FormT]:
    """The yes or no that a reply begins with, or the only one in it."""
    spoken = _spoken(content)
    found = list(_YES_OR_NO.finditer(content, spoken.start, spoken.end))
    words = {one[0].casefold() for one in found}
    opens = bool(found) and not any(map(str.isalnum, content[spoken.start : found[0].start()]))
    if opens or (len(words) == 1 and not is_cut_off):
        reply = form.model_validate({"yes": found[0][0].casefold() == "yes"})
        return ReadReply(reply, found[0].start(), found[0].end())
    if is_cut_off:
        raise ModelFailed(_CUT_OFF_SAID, cause="judge_cut_off")
    raise Unusable("the reply is neither yes nor no")


def answer_of(content: str) -> str:
    """The model's words without its thought."""
    spoken = _spoken(content)
    return content[spoken.start : spoken.end].strip()


def salvaging(form: type[_FormT], entries: str) -> Callable[[str], _FormT | None]:
    """A question's `salvage`: the form with as many objects of its list `entries` as the text holds whole.

    Every other field of the form needs a default.
    """

    def salvage(text: str) -> _FormT | None:
        try:
            # An entry that was cut behind its last value is not whole either.
            closed = text[: text.rfind("}") + 1]
            value = from_json(closed, allow_partial=True)
            _decoded_strictly(f"{closed}]" if isinstance(value, list) else f"{closed}]}}")
            found = value if isinstance(value, list) else value[entries]
            # Of an object that was cut, the keys that were whole are there.
            try:
                form.model_validate({entries: found[-1:]}, extra="ignore")
            except ValidationError:
                found = found[:-1]
            return form.model_validate({entries: found}, extra="ignore") if found else None
        except (ValueError, TypeError, KeyError):
            return None

    return salvage


def _list_of(form: type[BaseModel]) -> str | None:
    """The name of the list that is all of a form."""
    ((name, only), *others) = form.model_fields.items() or [("", None)]
    return name if only is not None and not others and get_origin(only.annotation) in {list, tuple} else None


@dataclass(slots=True)
class _Spoken:
    """The text behind a model's thought."""

    start: int
    end: int
    objects: list[tuple[int, int]] = field(default_factory=list)  # each JSON object that is no part of another value
    broken: int | None = None  # where the last object or list begins that has no end


def _spoken(content: str, *, lists: bool = False) -> _Spoken:
    """Divide a reply into thought, JSON and prose; `lists` count as objects.

    Objects are read whole before tags are looked for behind them, as a tag may be part of a string. A closing tag makes
    thought of all before it, whether it has an opening one or not.
    """
    found = _Spoken(0, len(content))
    at = 0
    # What follows an unfinished bracket may be its inside, up to a line that begins with its own bracket.
    while mark := (_MARK if found.broken is None else _MARK_BEHIND_BROKEN).search(content, at):
        if mark[0] in "{[":
            try:
                _, at = _PLAIN.raw_decode(content, mark.start())
            except RecursionError:
                # No form is so deep, and looking for others further in would take long.
                found.broken = found.end = mark.start()
                break
            except ValueError:
                found.broken, at = mark.start(), mark.end()
            else:
                if mark[0] == "{" or lists:
                    found.objects.append((mark.start(), at))
        elif _CLOSING.fullmatch(mark[0]):
            at = mark.end()
            found = _Spoken(at, len(content))
        else:
            closing = _CLOSING.search(content, mark.end())
            if closing is None:
                found.end = mark.start()
                break
            at = closing.start()
    return found


def _among_prose(content: str, spoken: _Spoken, question: Question[_FormT], bare_fault: Unusable) -> ReadReply[_FormT]:
    readings: list[ReadReply[_FormT]] = []
    faults: list[Unusable] = []
    for start, end in spoken.objects:
        text = content[start:end]
        prose = _FENCE.sub("", content[spoken.start : start]).strip()
        if prose and _stands_in(question, text):
            faults.append(Unusable("the reply quotes an object of the question and gives none of its own"))
            continue
        try:
            readings.append(ReadReply(_of_form(text, question.reply), start, end))
        except Unusable as fault:
            faults.append(fault)
    if any(one.reply != readings[0].reply for one in readings):
        raise Unusable("the reply holds several JSON objects of the form that was asked for, and they differ")
    if readings:
        return readings[-1]
    if faults:
        raise faults[-1]
    if content.strip() and not content[spoken.start : spoken.end].strip():
        raise Unusable("the reply is thought without an answer")
    raise bare_fault


def _stands_in(question: Question[Any], text: str) -> bool:
    """True if the question holds the text, as it is or in a string of JSON."""
    forms = [straightened(text), straightened(json.dumps(text, ensure_ascii=False)[1:-1])]
    shown = [straightened(message.content) for message in question.messages]
    return any(form in content for form in forms for content in shown)


def _cut_off(content: str, spoken: _Spoken, question: Question[_FormT]) -> ReadReply[_FormT]:
    if len(spoken.objects) == 1:
        # Some models end with white space without end.
        ((start, end),) = spoken.objects
        if not content[end:].strip(" \t\r\n`"):
            return ReadReply(_of_form(content[start:end], question.reply), start, end)
    elif spoken.broken is not None and not spoken.objects:
        reply = question.salvage(content[spoken.broken : spoken.end])
        if reply is not None:
            return ReadReply(reply, spoken.broken, spoken.end, complete=False)
    if content[spoken.start : spoken.end].strip():
        raise ModelFailed(_CUT_OFF_SAID, cause="judge_cut_off")
    said = "the token limit was reached before the reply began; a model that thinks first needs a larger max_tokens"
    raise ModelFailed(said, cause="judge_cut_off", begun=False)


def _of_form(text: str, form: type[_FormT]) -> _FormT:
    try:
        value = from_json(text)
        if isinstance(value, list) and (name := _list_of(form)) is not None:
            value = {name: value}
        reply = form.model_validate(value, extra="ignore")
    except ValidationError as error:
        raise Unusable(_faults(error)) from None
    except TypeError:
        raise Unusable("it is no JSON: half of a character stands in it") from None
    except ValueError as error:
        raise Unusable(f"it is no JSON: {error}") from None
    # Only now: the depth is bounded, and the last of two equal keys was taken without a word.
    _decoded_strictly(text)
    return reply


def _decoded_strictly(text: str) -> None:
    """Raise Unusable for what JSON allows and nobody means; text that is no JSON is left to others."""
    with suppress(json.JSONDecodeError, RecursionError):
        _STRICT.decode(text)


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
