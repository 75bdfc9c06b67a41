"""Rules as they stand in a file; what is written reads as the same rule."""

from collections.abc import Iterable, Iterator

from lab.link.rules.rule import Predicate, Rule


def written(rules: Iterable[Rule]) -> str:
    """The text of a file of rules."""
    lines: list[str] = []
    domain = None
    for rule in rules:
        if rule.domain != domain:
            domain = rule.domain
            lines += [f"[{domain}]", ""]
        lines += [*_lines(rule), ""]
    return "\n".join(lines)


def _lines(rule: Rule) -> Iterator[str]:
    yield f"{rule.name}:"
    for place, predicate in enumerate(rule.premise):
        yield f"    {'& ' if place else ''}{_predicate(rule, predicate)}"
    yield f"    -> {_predicate(rule, rule.conclusion)}"
    yield f"    subject {rule.subject} order {rule.order}"
    for option in ("negation", "question"):
        text = getattr(rule, option)
        if text is not None:
            yield f'    {option} "{text}"'
    if rule.expand is not None:
        yield f"    expand {rule.expand}"
    if rule.vetted:
        yield "    vetted"


def _predicate(rule: Rule, predicate: Predicate) -> str:
    arguments = ", ".join(f"{rule.types[variable]} {variable}" for variable in predicate.variables)
    sentence = f' "{predicate.sentence}"' if predicate.sentence is not None else ""
    return f"{predicate.verb}({arguments}){sentence}"
