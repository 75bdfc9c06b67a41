"""Files of rules: parsed by a grammar, and every rule held against the criteria for rules."""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.link.rules.rule import Place, Rule
from lab.link.rules.validation import Draft, DraftArgument, DraftPredicate, Fault, validated

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedInput

BUNDLED = "bundled"
"""Names the rules that come with assay."""

_PACKAGE = "lab.link.rules"
_MOST_BYTES = 4 * 1024 * 1024
_MOST_NAME = 256
_SHOWN = 20

_SPOKEN = {
    "DOMAIN": "a domain such as [temporal]",
    "NAME": "a name with a colon",
    "VERB": "a predicate such as is_part_of(…)",
    "WORD": "a data type and a variable, such as Person X",
    "DIRECTION": "forward or backward",
    "ARROW": "->",
    "SENTENCE": 'a sentence in "quotation marks"',
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "a comma",
    "AMPERSAND": "&",
    "$END": "the end of the file",
}
"""The grammar's terminals; keywords speak for themselves."""


class BadRules(ValueError):
    """A file of rules that cannot be used; the message has a line a fault, each with its position."""


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file, in its order.

    Raises:
        BadRules: it cannot be read or parsed, holds no rule, or a rule breaks a criterion.
    """
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise BadRules(f"{path}: {size} bytes; allowed are {_MOST_BYTES}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadRules(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadRules(f"{path}: byte {error.start} is not UTF-8") from None
    return parsed(text, str(path))


def bundled_rules() -> tuple[Rule, ...]:
    """The rules that come with assay."""
    return parsed(resources.files(_PACKAGE).joinpath("bundled.rules").read_text("utf-8"), "bundled.rules")


def parsed(text: str, shown: str) -> tuple[Rule, ...]:
    """The rules of a text; faults are told as being in the file `shown`.

    Raises:
        BadRules: as `read_rules`.
    """
    from lark.exceptions import UnexpectedInput

    try:
        tree = _grammar().parse(text)
    except UnexpectedInput as error:
        raise BadRules(_syntax_fault(error, text, shown)) from None
    found = [validated(draft) for draft in _drafts(tree)]
    faults = [*(fault for one in found if isinstance(one, list) for fault in one), *_repeated_names(found)]
    if faults:
        faults.sort(key=lambda fault: (fault.place.line, fault.place.column))
        lines = (f"{shown}:{fault.place.line}:{fault.place.column}: {fault.message}" for fault in faults)
        raise BadRules("\n".join(lines))
    if not found:
        raise BadRules(f"{shown}: holds no rule")
    return tuple(one for one in found if isinstance(one, Rule))


@cache
def _grammar() -> "Lark":
    from lark import Lark

    text = resources.files(_PACKAGE).joinpath("grammar.lark").read_text("utf-8")
    return Lark(text, parser="lalr", propagate_positions=True)


def _syntax_fault(error: "UnexpectedInput", text: str, shown: str) -> str:
    expected: set[str] = set(getattr(error, "accepts", None) or getattr(error, "allowed", None) or ())
    wanted = ", ".join(sorted(_SPOKEN.get(name, name.lower()) for name in expected))
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        lines = text.rstrip().split("\n")
        return f"{shown}:{len(lines)}:{len(lines[-1]) + 1}: the file ends within a rule; expected {wanted}"
    got = text[error.pos_in_stream or 0 :].split("\n", 1)[0][:_SHOWN]
    return f"{shown}:{error.line}:{error.column}: expected {wanted}, got {got!a}"


def _drafts(tree: "Tree[Token]") -> Iterator[Draft]:
    domain: str | None = None
    number = 0
    for part in tree.children:
        if part.data == "domain":  # type: ignore[union-attr]
            domain = " ".join(str(part.children[0])[1:-1].split())[:_MOST_NAME]  # type: ignore[union-attr]
        else:
            number += 1
            yield _draft(part, domain or None, number)


def _draft(tree: Any, domain: str | None, number: int) -> Draft:
    name = next((part[:-1].strip() for part in tree.children if getattr(part, "type", "") == "NAME"), f"rule-{number}")
    premise, conclusion, *options = (part for part in tree.children if hasattr(part, "data"))
    given = {part.data: _option(part) for part in options}
    return Draft(
        name=name,
        place=Place(tree.meta.line, tree.meta.column),
        domain=domain,
        premise=tuple(map(_predicate, premise.children)),
        conclusion=_predicate(conclusion),
        subject=given.get("subject"),
        expand=given.get("expand"),
        order=given.get("order"),
        negation=given.get("negation"),
        question=given.get("question"),
        vetted="vetted" in given,
    )


def _option(tree: Any) -> Any:
    if not tree.children:
        return True
    (token,) = tree.children
    return token[1:-1].strip() if token.type == "SENTENCE" else str(token)


def _predicate(tree: Any) -> DraftPredicate:
    verb, first, second, *sentence = tree.children
    return DraftPredicate(
        verb=str(verb),
        place=Place(verb.line, verb.column),
        arguments=(_argument(first), _argument(second)),
        sentence=sentence[0][1:-1].strip() if sentence else None,
    )


def _argument(tree: Any) -> DraftArgument:
    *words, last = tree.children
    return DraftArgument(
        type=" ".join(words), variable=str(last), place=Place(tree.children[0].line, tree.children[0].column)
    )


def _repeated_names(found: list[Rule | list[Fault]]) -> Iterator[Fault]:
    seen: set[str] = set()
    for rule in found:
        if isinstance(rule, Rule):
            if rule.name in seen:
                yield Fault(rule.premise[0].place, f"rule {rule.name}: an earlier rule has the same name")
            seen.add(rule.name)
