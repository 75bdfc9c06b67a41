"""The criteria for rules that their form does not tell (LINK, 2.2): no paraphrase (3), facts that can be known (5)."""

from collections.abc import Sequence

from lab.link.models import SearchModels
from lab.link.questions import VettingReply, ask_vetting
from lab.link.rules.rule import Place, Rule
from lab.link.rules.sentences import filled, sentence_of
from models.concurrent import gather_or_cancel
from models.protocol import Question

_SHOWN = 200


class NotVetted(ValueError):
    """The critic finds that rules break a criterion; the message has a line a fault, each with its position."""


async def vet(rules: Sequence[Rule], models: SearchModels, *, shown: str) -> None:
    """Ask the critic about each rule that no person has vetted; `shown` is the name of their file.

    Raises:
        NotVetted: it finds fault with some.
        OracleFailed: it gives no usable answer about one.
    """
    asked = [rule for rule in rules if not rule.vetted]
    replies = await gather_or_cancel([models.vetted(_question(rule)) for rule in asked])
    faults = [fault for rule, reply in zip(asked, replies, strict=True) for fault in _faults(rule, reply, shown)]
    if faults:
        hint = "Correct them, or write vetted behind a rule that you have looked at and find right."
        raise NotVetted("\n".join([*faults, hint]))


def _question(rule: Rule) -> Question[VettingReply]:
    names = {variable: f"{data_type} {variable}" for variable, data_type in rule.types.items()}
    given = [filled(sentence_of(one), names) for one in rule.premise]
    return ask_vetting(given, filled(sentence_of(rule.conclusion), names), subject=names[rule.subject])


def _faults(rule: Rule, reply: VettingReply, shown: str) -> list[str]:
    def fault(place: Place, what: str) -> str:
        reason = " ".join(reply.reason.split())[:_SHOWN]
        return f"{shown}:{place.line}:{place.column}: rule {rule.name}: the critic finds that {what}: {reason}"

    found = []
    if reply.paraphrase:
        found.append(fault(rule.conclusion.place, "the conclusion paraphrases the premise (criterion 3)"))
    # What is about the subject is assumed, and nobody need know it.
    facts = [one for one in rule.premise if rule.subject not in one.variables]
    unknowable = next((one for one in facts if rule.premise.index(one) + 1 in reply.unknowable), None)
    if unknowable is not None:
        found.append(fault(unknowable.place, f"no model can know {unknowable.verb} (criterion 5)"))
    return found
