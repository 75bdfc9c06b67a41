"""The sentences that predicates stand for; of a conclusion also its opposite, and the question behind it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lab.link.rules.rule import Predicate, Rule
from models.text.articles import indefinite_article
from models.text.lexicon import lexicon
from models.text.tagger import tag_words

BLANK = "___"
"""Stands for the value that is asked for."""

_HOLE = re.compile(r"\{([^{}]*)\}")
_FINITE = frozenset({"VBZ", "VBD", "VBP", "MD"})
_BE = frozenset("is are was were".split())
_MODAL = frozenset("can could may might must shall should will would".split())
_DO = frozenset("do does did".split())
_PERFECT = frozenset("has have had".split())


@dataclass(frozen=True, slots=True)
class ConclusionForms:
    """Sentences with variables in braces."""

    statement: str
    negation: str
    question: str
    answer: Literal["yes", "no"]
    """To the question, if the statement is true."""


def filled(sentence: str, values: Mapping[str, str]) -> str:
    """The sentence with values in place of its variables; in one pass, so that braces in values stay."""
    return _HOLE.sub(lambda hole: values[hole[1]], sentence)


def sentence_of(predicate: Predicate) -> str:
    """The sentence with variables in braces: the file's own, or the words of the verb, led by "is" if they need it."""
    if predicate.sentence is not None:
        return predicate.sentence
    first, second = predicate.variables
    return f"{{{first}}} {' '.join(_finite(predicate.verb.split('_')))} {{{second}}}"


def premise_of(rule: Rule, values: Mapping[str, str]) -> str:
    """The premise's predicates that hold the subject, joined by "and": the others are knowledge that is to be had."""
    about = [sentence_of(one) for one in rule.premise if rule.subject in one.variables]
    return filled(" and ".join(about), values)


def forms_of(rule: Rule) -> ConclusionForms:
    """The conclusion's sentences."""
    statement = sentence_of(rule.conclusion)
    first, second = (f"{{{name}}}" for name in rule.conclusion.variables)
    words = _finite(rule.conclusion.verb.split("_"))
    auxiliary, denied, rest = _parted(words)
    verb = " ".join(rest)
    negation = f"{first} {_with_not(auxiliary, denied=denied, verb=verb)} {second}"
    question = f"{auxiliary} {first} {verb} {second}"
    return ConclusionForms(
        statement=statement,
        negation=rule.negation or " ".join(negation.split()),
        question=rule.question or " ".join(question.split()),
        answer="no" if denied else "yes",
    )


def _with_not(auxiliary: str, *, denied: bool, verb: str) -> str:
    """The opposite of what is said."""
    if denied:
        return f"{auxiliary} {verb}"
    return f"cannot {verb}" if auxiliary == "can" else f"{auxiliary} not {verb}"


def _finite(words: list[str]) -> list[str]:
    """The words with a finite verb at their head: `allergic to` becomes `is allergic to`."""
    head = words[0]
    if head in _BE | _MODAL | _DO | _PERFECT | {"cannot"}:
        return words
    tag = tag_words(("someone", *words, "something"))[1]
    if tag in _FINITE:
        return words
    article = [indefinite_article(head)] if tag == "NN" else []
    return ["is", *article, *words]


def _parted(words: list[str]) -> tuple[str, bool, list[str]]:
    """The auxiliary (a "do" where there is none), whether a "not" follows, and what is left."""
    head, *rest = words
    if head == "cannot":
        return "can", True, rest
    denied = rest[:1] == ["not"]
    if head in _BE | _MODAL or (head in _DO and denied) or (head in _PERFECT and _is_perfect(rest[denied:])):
        return head, denied, rest[denied:]
    past = tag_words(("someone", *words, "something"))[1] == "VBD"
    return ("did" if past else "does"), False, [_base(head), *rest]


def _is_perfect(words: list[str]) -> bool:
    return bool(words) and tag_words(("someone", "has", *words))[2] == "VBN"


def _base(verb: str) -> str:
    bases = {"has": "have", "had": "have", "does": "do", "did": "do"}
    return bases.get(verb) or min(lexicon().lemmas(verb, "v"), key=lambda base: (base == verb, base), default=verb)
