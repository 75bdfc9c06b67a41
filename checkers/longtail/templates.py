"""The 13 ways to ask about a statement (LINT, section 4 and table 7), each with the answer that is right."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from checkers.longtail.corpus import Statement
from checkers.longtail.yes_or_no import meaning

Polarity = Literal["positive", "negative"]

POLARITIES: tuple[Polarity, ...] = ("positive", "negative")

BY_SIGN = 7
"""The template that asks without a negation: the right answer depends on the sign of the conclusion."""

PAIR = (1, 8)
"""The templates that ask the same of a conclusion and of its negation: who knows affirms the first more."""

_IS_TRUE = "{Premise}. Is it true that {about}? Answer yes or no."
_FOLLOWS = "{Premise}. Yes or no: does this mean that {about}?"
_TRUE_OR_FALSE = "{Premise}. True or false: {about}."
_RIGHT_OR_WRONG = "{Premise}. Right or wrong: {about}."
_ENTAILS = (
    "First sentence: {Premise}. Second sentence: {About}. Does the second follow from the first? Answer yes or no."
)
_CONTRADICTS = (
    "First sentence: {Premise}. Second sentence: {About}. Does the first rule out the second? Answer yes or no."
)


@dataclass(frozen=True, slots=True)
class ProbeTemplate:
    """A question about a premise and what it is said to entail."""

    number: int
    text: str
    about: str
    """The part of the statement that the premise is compared with."""
    expected: str
    """The right answer for a correct statement; of the template `BY_SIGN` the statement says it."""

    def question(self, statement: Statement) -> str:
        about: str = getattr(statement, self.about)
        premise, begun = (text[:1].upper() + text[1:] for text in (statement.premise, about))
        return self.text.format(Premise=premise, about=about, About=begun)

    def answer(self, statement: Statement) -> str:
        """The right answer."""
        if not statement.correct:
            return _OPPOSITES[self.expected]
        return statement.answer if self.number == BY_SIGN else self.expected

    def asks(self, statement: Statement) -> bool:
        """True if the right answer is known.

        Of an incorrect statement only this is: its conclusion does not follow, and the premise does not rule out the
        conclusion's negation. Whether the negation follows in its place is not.
        """
        return statement.correct or polarity(self.number, self.expected) == "positive"


_OPPOSITES: Mapping[str, str] = {"yes": "no", "true": "false", "right": "wrong"}

TEMPLATES: Mapping[int, ProbeTemplate] = {
    number: ProbeTemplate(number, text, about, expected)
    for number, text, about, expected in (
        (1, _IS_TRUE, "conclusion", "yes"),
        (2, _FOLLOWS, "conclusion", "yes"),
        (3, _TRUE_OR_FALSE, "conclusion", "true"),
        (4, _RIGHT_OR_WRONG, "conclusion", "right"),
        (5, _ENTAILS, "conclusion", "yes"),
        (6, _CONTRADICTS, "negation", "yes"),
        (BY_SIGN, "{Premise}. {About}? Answer yes or no.", "question", "no"),
        (8, _IS_TRUE, "negation", "no"),
        (9, _FOLLOWS, "negation", "no"),
        (10, _TRUE_OR_FALSE, "negation", "false"),
        (11, _RIGHT_OR_WRONG, "negation", "wrong"),
        (12, _ENTAILS, "negation", "no"),
        (13, _CONTRADICTS, "conclusion", "no"),
    )
}
"""By number: 1 to 6 are to be affirmed, 8 to 13 denied."""


def templates_of(statement: Statement) -> Iterator[ProbeTemplate]:
    """The templates whose right answer is known: all 13 of a correct statement."""
    return (template for template in TEMPLATES.values() if template.asks(statement))


def polarity(template: int, expected: str) -> Polarity:
    """`positive` if the expected answer affirms, `negative` if it denies; the template `BY_SIGN` counts as negative.

    So table 3 has it: models are biased towards denying, which is why the two are scored apart.
    """
    return "positive" if template != BY_SIGN and meaning(expected) else "negative"
