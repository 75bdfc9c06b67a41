"""Prompt templates: text files with turns and placeholders, replaceable by path, versioned by their digest.

    # Lines before the first turn are comments.
    === system ===
    You compare sentences with an article.
    === user ===
    Compare these {{count}} sentences:
    {{sentences}}
    with the article:
    {{article}}

Turns are `system` (at most one, first), `user` and `assistant` (for worked examples); the last one is `user`.
A placeholder is a lower-case name in double braces. Names are either *fenced*, for untrusted text, and stand alone
on their line, or *plain*, for words of our own. The rule about fences is added to the system turn and the fences'
tag stated in the turn that uses them, so that no template can forget to.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from pydantic import JsonValue

from checkers.oracle.fencing import FENCE_RULE, fence, fence_tag, tag_notice
from checkers.oracle.protocol import Message

_TURN = re.compile(r"=== *([^=]*?) *===\s*")
_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_ROLES = ("system", "user", "assistant")

_Role = Literal["system", "user", "assistant"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


class TemplateError(ValueError):
    """A template that cannot be used: names the file, the line, what stands there and what is allowed."""


@dataclass(frozen=True, slots=True)
class _Turn:
    role: _Role
    text: str


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with placeholders; load it with `load_template`."""

    name: str
    version: str
    """Digest of everything that shapes the prompt: twelve hexadecimal digits."""
    fenced: frozenset[str]
    """Placeholders for untrusted text that the template uses."""
    plain: frozenset[str]
    """Placeholders for words of our own that the template uses."""
    turns: tuple[_Turn, ...]

    def render(self, fenced: Mapping[str, str], plain: Mapping[str, str] = _NOTHING) -> tuple[Message, ...]:
        """The chat messages: every text of `fenced` in a fence of its name, every word of `plain` as it is.

        `plain` is for trusted text only. Values that the template does not use are left out.

        Raises:
            TemplateError: a placeholder of the template has no value.
        """
        missing = sorted((self.fenced - fenced.keys()) | (self.plain - plain.keys()))
        if missing:
            raise TemplateError(f"template {self.name}: no value for {', '.join(missing)}")
        shown = {name: fenced[name] for name in sorted(self.fenced)}
        tag = fence_tag(shown.values())
        values = {name: plain[name] for name in self.plain}
        values.update({name: fence(name, text, tag) for name, text in shown.items()})
        return tuple(self._message(turn, values, tag) for turn in self.turns)

    def _message(self, turn: _Turn, values: Mapping[str, str], tag: str) -> Message:
        used = set(_PLACEHOLDER.findall(turn.text))
        # One pass: text that was filled in is never searched for placeholders.
        content = _PLACEHOLDER.sub(lambda found: values[found[1]], turn.text)
        if used & self.fenced:
            content = f"{tag_notice(tag)}\n\n{content}"
        return Message(turn.role, content)


def as_list(values: Sequence[JsonValue]) -> str:
    """A JSON list with an element a line, for a fence: a text with line breaks stays one element."""
    lines = ",\n".join(json.dumps(value, ensure_ascii=False) for value in values)
    return f"[\n{lines}\n]" if lines else "[]"


@dataclass(frozen=True, slots=True)
class Placeholders:
    """What a template may use, and must but for the optional ones."""

    fenced: tuple[str, ...]
    """For untrusted text."""
    plain: tuple[str, ...] = ()
    """For words of our own."""
    optional: tuple[str, ...] = ()


class Templates:
    """The templates of a package's folder by name, a user's own in the place of those that have one.

    Raises:
        ValueError: `own` names a template that there is not, or (as TemplateError) one cannot be used.
    """

    def __init__(
        self, package: str, placeholders: Mapping[str, Placeholders], own: Mapping[str, Path] | None = None
    ) -> None:
        own = own or {}
        if unknown := sorted(set(own) - set(placeholders)):
            raise ValueError(f"no template is called {unknown[0]!r}; allowed are {', '.join(placeholders)}")
        self._by_name = {
            name: load_template(
                name,
                package=package,
                fenced=known.fenced,
                plain=known.plain,
                optional=known.optional,
                path=own.get(name),
            )
            for name, known in placeholders.items()
        }

    def __getitem__(self, name: str) -> Template:
        """A template by its name."""
        return self._by_name[name]

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return {name: template.version for name, template in self._by_name.items()}


def load_template(
    name: str,
    *,
    package: str,
    fenced: Collection[str],
    plain: Collection[str] = (),
    optional: Collection[str] = (),
    path: Path | None = None,
) -> Template:
    """The template `NAME.txt` of a package's folder, or the one at `path` in its place.

    `fenced` and `plain` are the placeholders it may use; it must use all but the `optional` ones.

    Raises:
        TemplateError: the file is missing or not UTF-8, or its turns or placeholders are not as they must be.
    """
    if path is None:
        shown = f"{package}/{name}.txt"
        source = resources.files(package).joinpath(f"{name}.txt")
    else:
        shown = str(path)
        source = path
    try:
        text = source.read_text(encoding="utf-8")
    except OSError as error:
        raise TemplateError(f"{shown}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise TemplateError(f"{shown}: byte at offset {error.start} is not UTF-8") from None
    sections = _sections(text.removeprefix("\ufeff").replace("\r\n", "\n"), shown)
    used = _used_placeholders(sections, shown, frozenset(fenced), frozenset(plain))
    absent = sorted({*fenced, *plain} - used - set(optional))
    if absent:
        wanted = ", ".join(f"{{{{{one}}}}}" for one in absent)
        raise TemplateError(f"{shown}: placeholder {wanted} is missing; the template must use it")
    turns = _turns(sections)
    version = hashlib.sha256(repr([(turn.role, turn.text) for turn in turns]).encode()).hexdigest()[:12]
    return Template(name=name, version=version, fenced=used & set(fenced), plain=used & set(plain), turns=turns)


@dataclass(frozen=True, slots=True)
class _Section:
    role: _Role
    line: int
    lines: list[str]


def _sections(text: str, shown: str) -> list[_Section]:
    found: list[_Section] = []
    for number, line in enumerate(text.split("\n"), start=1):
        heading = _TURN.fullmatch(line)
        if heading:
            found.append(_Section(_role(heading[1], f"{shown}:{number}", first=not found), number, []))
        elif found:
            found[-1].lines.append(line)
        elif line.strip() and not line.startswith("#"):
            raise TemplateError(f"{shown}:{number}: text before the first turn; begin it with # or with === system ===")
    if not found or found[-1].role != "user":
        raise TemplateError(f"{shown}: the last turn must be === user ===")
    for section in found:
        if not "".join(section.lines).strip():
            raise TemplateError(f"{shown}:{section.line}: the {section.role} turn is empty")
    return found


def _role(word: str, place: str, *, first: bool) -> _Role:
    if word not in _ROLES:
        raise TemplateError(f"{place}: turn {word!r}; allowed are {', '.join(_ROLES)}")
    if word == "system" and not first:
        raise TemplateError(f"{place}: the system turn must be the first")
    return cast("_Role", word)


def _turns(sections: list[_Section]) -> tuple[_Turn, ...]:
    turns = tuple(_Turn(section.role, "\n".join(section.lines).strip("\n")) for section in sections)
    if turns[0].role == "system":
        return (_Turn("system", f"{turns[0].text}\n\n{FENCE_RULE}"), *turns[1:])
    return (_Turn("system", FENCE_RULE), *turns)


def _used_placeholders(
    sections: list[_Section], shown: str, fenced: frozenset[str], plain: frozenset[str]
) -> frozenset[str]:
    used: set[str] = set()
    for section in sections:
        for number, line in enumerate(section.lines, start=section.line + 1):
            place = f"{shown}:{number}"
            names = _PLACEHOLDER.findall(line)
            if line.count("{{") != len(names):
                raise TemplateError(f"{place}: '{{{{' opens no placeholder; write {{{{name}}}} in lower case")
            for name in names:
                if name not in fenced and name not in plain:
                    known = ", ".join(sorted(fenced | plain))
                    raise TemplateError(f"{place}: unknown placeholder {{{{{name}}}}}; known are {known}")
                if name in fenced and (section.role == "system" or line.strip() != f"{{{{{name}}}}}"):
                    raise TemplateError(
                        f"{place}: {{{{{name}}}}} takes untrusted text: it must stand alone on its line, "
                        "and not in the system turn"
                    )
            used.update(names)
    return frozenset(used)
