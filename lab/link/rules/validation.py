"""The criteria for rules that can be told from their form (LINK, 2.2): subject, chain, size, no repeated conclusion.

Whether premise and conclusion are paraphrases in other words, and whether a model can know the facts, is for the judge
or a person: see `lab.link.vetting`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lab.link.rules.rule import Order, Place, Predicate, Rule
from models.wording import counted

_VARIABLE = re.compile(r"[A-Z][0-9]?")
_HOLE = re.compile(r"\{([^{}]*)\}")
_PERSONS = frozenset({"person", "human", "people"})
_NUMERIC = frozenset(
    "age amount count date depth distance duration height length mass number percentage price quantity size speed "
    "temperature volume weight width year".split()
)
_AUXILIARY = frozenset(
    "is are was were be been not able to can cannot could should may might must will would do does did".split()
)
_MOST_VARIABLES = 12
"""Chains are found by trying; no rule that a person can follow has so many."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a rule, and where."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class DraftArgument:
    type: str
    variable: str
    place: Place


@dataclass(frozen=True, slots=True)
class DraftPredicate:
    verb: str
    place: Place
    arguments: tuple[DraftArgument, DraftArgument]
    sentence: str | None

    @property
    def variables(self) -> tuple[str, str]:
        first, second = self.arguments
        return first.variable, second.variable

    @property
    def pair(self) -> frozenset[str]:
        return frozenset(self.variables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A rule as it was parsed."""

    name: str
    place: Place
    domain: str | None
    premise: tuple[DraftPredicate, ...]
    conclusion: DraftPredicate
    subject: str | None
    expand: str | None
    order: Order | None
    negation: str | None
    question: str | None
    vetted: bool

    @property
    def predicates(self) -> tuple[DraftPredicate, ...]:
        return (*self.premise, self.conclusion)


def validated(draft: Draft) -> Rule | list[Fault]:
    """The rule, or what is wrong with it: one fault for each criterion that it breaks."""
    faults = [*_faults_of_form(draft)]
    if faults:
        return _named(draft, faults)
    types = {one.variable: one.type for predicate in draft.predicates for one in predicate.arguments}
    faults += [*_too_small(draft), *_repeats_conclusion(draft)]
    subject = _subject(draft, types)
    chain: tuple[str, ...] = ()
    if isinstance(subject, Fault):
        faults.append(subject)
    else:
        found = _chain(draft, subject, list(types))
        if isinstance(found, Fault):
            faults.append(found)
        else:
            chain = found
    if faults:
        return _named(draft, faults)
    premise = tuple(_predicate(one) for one in draft.premise)
    return Rule(
        name=draft.name,
        domain=draft.domain or "",
        types=types,
        premise=premise,
        conclusion=_predicate(draft.conclusion),
        chain=chain,
        order=draft.order or ("backward" if any(map(_is_numeric, types.values())) else "forward"),
        negation=draft.negation,
        question=draft.question,
        expand=draft.expand,
        vetted=draft.vetted,
    )


def _named(draft: Draft, faults: list[Fault]) -> list[Fault]:
    return [Fault(fault.place, f"rule {draft.name}: {fault.message}") for fault in faults]


def _predicate(draft: DraftPredicate) -> Predicate:
    return Predicate(draft.verb, draft.variables, draft.place, draft.sentence)


def _is_numeric(data_type: str) -> bool:
    return any(word.lower() in _NUMERIC for word in data_type.split())


def _faults_of_form(draft: Draft) -> Iterator[Fault]:
    if draft.domain is None:
        yield Fault(draft.place, "has no domain; write one, such as [temporal], on a line before it")
    types: dict[str, str] = {}
    for predicate in draft.predicates:
        for argument in predicate.arguments:
            name = argument.variable
            if not _VARIABLE.fullmatch(name):
                yield Fault(argument.place, f"{name!r} is no variable; a capital letter comes last, as in Person X")
            elif not argument.type:
                yield Fault(argument.place, f"variable {name} has no data type; write one before it, as in Person X")
            elif types.setdefault(name, argument.type) != argument.type:
                yield Fault(argument.place, f"variable {name} is of type {argument.type}, and was of {types[name]}")
        if len(predicate.pair) == 1:
            yield Fault(predicate.place, f"{predicate.verb} has the same variable twice")
    yield from _repeated(draft)
    yield from _faults_of_sentences(draft, list(types))


def _repeated(draft: Draft) -> Iterator[Fault]:
    seen: set[tuple[str, tuple[str, str]]] = set()
    for predicate in draft.premise:
        key = (predicate.verb, predicate.variables)
        if key in seen:
            yield Fault(predicate.place, f"{predicate.verb} stands there twice")
        seen.add(key)


def _faults_of_sentences(draft: Draft, known: list[str]) -> Iterator[Fault]:
    for predicate in draft.predicates:
        if predicate.sentence is not None and set(_HOLE.findall(predicate.sentence)) != predicate.pair:
            wanted = " and ".join(f"{{{name}}}" for name in predicate.variables)
            yield Fault(predicate.place, f"the sentence of {predicate.verb} must name {wanted} and no other variable")
    for option in ("negation", "question"):
        text = getattr(draft, option)
        if text is not None and set(_HOLE.findall(text)) != draft.conclusion.pair:
            wanted = " and ".join(f"{{{name}}}" for name in draft.conclusion.variables)
            yield Fault(draft.conclusion.place, f"the {option} must name {wanted} and no other variable")
    if draft.expand is not None and draft.expand not in known:
        yield Fault(draft.place, f"expand {draft.expand}: there is no such variable; there are {', '.join(known)}")


def _too_small(draft: Draft) -> Iterator[Fault]:
    variables = {name for predicate in draft.predicates for name in predicate.variables}
    if len(draft.premise) < 2 or len(variables) < 3:
        yield Fault(
            draft.place,
            f"its premise has {counted(len(draft.premise), 'predicate')} and there are "
            f"{counted(len(variables), 'variable')}; needed are 2 and 3, or there is nothing to "
            "reason about (criterion 4)",
        )


def _repeats_conclusion(draft: Draft) -> Iterator[Fault]:
    said = _content(draft.conclusion.verb)
    for predicate in draft.premise:
        if predicate.pair == draft.conclusion.pair and _content(predicate.verb) == said:
            yield Fault(
                predicate.place,
                f"{predicate.verb} says or denies of the same two variables what the conclusion does (criterion 3)",
            )
            return


def _content(verb: str) -> tuple[str, ...]:
    return tuple(word for word in verb.split("_") if word not in _AUXILIARY)


def _subject(draft: Draft, types: dict[str, str]) -> str | Fault:
    in_premise = list(dict.fromkeys(name for predicate in draft.premise for name in predicate.variables))
    shared = [name for name in in_premise if name in draft.conclusion.pair]
    if not shared:
        return Fault(
            draft.conclusion.place,
            "premise and conclusion share no variable, so that they are about no one subject (criterion 1)",
        )
    if draft.subject is not None:
        if draft.subject in shared:
            return draft.subject
        return Fault(
            draft.place,
            f"subject {draft.subject}: it must be in premise and conclusion; {' and '.join(shared)} "
            f"{'is' if len(shared) == 1 else 'are'} (criterion 1)",
        )
    persons = (name for name in shared if _PERSONS.intersection(types[name].lower().split()))
    return next(persons, shared[0])


def _chain(draft: Draft, subject: str, variables: list[str]) -> tuple[str, ...] | Fault:
    (end,) = draft.conclusion.pair - {subject}
    links: dict[str, dict[str, None]] = {name: {} for name in variables}
    for predicate in draft.premise:
        first, second = predicate.variables
        links[first][second] = links[second][first] = None
    if len(variables) > _MOST_VARIABLES:
        return Fault(draft.place, f"{len(variables)} variables; allowed are {_MOST_VARIABLES}")
    reached = _reached(links, subject)
    for name in variables:
        if name not in reached:
            return Fault(
                _place_of(draft, name),
                f"no chain of premise predicates leads from the subject {subject} to {name} (criterion 2)",
            )
    found = next(_paths(links, (subject,), end), None)
    return found or Fault(
        draft.conclusion.place,
        f"no single chain of premise predicates leads from the subject {subject} to {end} through "
        f"{', '.join(name for name in variables if name not in (subject, end))} (criterion 2)",
    )


def _reached(links: dict[str, dict[str, None]], start: str) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        new = links[waiting.pop()].keys() - found
        found |= new
        waiting.extend(new)
    return found


def _paths(links: dict[str, dict[str, None]], path: tuple[str, ...], end: str) -> Iterator[tuple[str, ...]]:
    """Paths that begin so, visit every variable once and end there."""
    if len(path) == len(links):
        if path[-1] == end:
            yield path
        return
    for following in links[path[-1]]:
        if following not in path and (following != end or len(path) == len(links) - 1):
            yield from _paths(links, (*path, following), end)


def _place_of(draft: Draft, variable: str) -> Place:
    return next(one.place for predicate in draft.predicates for one in predicate.arguments if one.variable == variable)
