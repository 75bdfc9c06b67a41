"""Whatever a record says, the prompts about it keep it inside its fence, word for word."""

import json
import math
import re
from typing import Any

import pytest
from checkers.consistency.entries import Entries, Entry
from checkers.consistency.sentences import split_sentences

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from models.protocol import Answer, Question, ReplyT, WindowExceeded
from schemas import Generation
from tests.support.attacks import ATTACKS, name_of
from tests.support.stub_request import asked_in, is_control, marked_in

WAYS = {"by_the_list": 4096, "per_sentence": 120}
"""Tokens of one reply at most, from which the sentences of a call follow."""


class Listener:
    """A judge that keeps what it was asked, and repeats in its reasons what it was told to judge."""

    name = "listener"

    def __init__(self, *, careless: bool = False, window: int | None = None, max_tokens: int = 4096) -> None:
        self.max_tokens = max_tokens
        self.asked: list[Question] = []
        self._careless = careless
        """Leaves out the first of several sentences and makes one up, so that it is asked again."""
        self._window = window

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        if self._window is not None and sum(len(message.content) for message in question.messages) > self._window:
            raise WindowExceeded("too long", characters=self._window)
        self.asked.append(question)
        listed = asked_by(question)
        control = control_in(question)
        told = [(number, f"It says “{text}”, which is wrong.") for number, text in listed.items() if number != control]
        if self._careless and len(told) > 1:
            told = [*told[1:], (4711, "made up")]
        if control is not None:
            told.append((control, "Nothing of it is there."))
        entries = [Entry(number=number, reason=reason, consistent=False) for number, reason in told]
        return Answer(Entries(entries=entries))

    async def close(self) -> None:
        pass


def asked_by(question: Question) -> dict[int, str]:
    """The sentences of the response, or the reasons, that it asks about, by the numbers shown."""
    material = fenced(question)
    if "reasons" in material:
        return {one["number"]: one["reason"] for one in json.loads(material["reasons"])}
    said = question.messages[1].content
    return {number: marked_in(said, material["response"])[number] for number in asked_in(said)}


def control_in(question: Question) -> int | None:
    """The number shown before the control sentence; none where reasons are asked about."""
    reference = fenced(question).get("reference", "")
    return next((number for number, text in asked_by(question).items() if is_control(text, reference)), None)


def listed_in(question: Question) -> dict[int, str]:
    """The sentences of the response by their places in it, or the reasons, that it asks about."""
    control = control_in(question) or math.inf
    return {number - (number > control): text for number, text in asked_by(question).items() if number != control}


def response_in(question: Question) -> str:
    """The response that it shows, without marks and without the control sentence."""
    mark = rf"\[\d+-{code_of(question)}\] "
    control = re.escape(asked_by(question)[control_in(question)])
    # Before another sentence, with what divides the two; else last.
    of_control = rf"{mark}{control}\W*?(?={mark})| {mark}{control}"
    alone = re.sub(of_control, "", fenced(question)["response"], count=1)
    return re.sub(mark, "", alone)


def code_of(question: Question) -> str:
    """The code beside the numbers of sentences."""
    found = re.search(r"as in \[1-([0-9a-f]{4,})\] and", unfenced_of(question))
    return found[1] if found else "none"


async def asked_about(record: Generation, way: str, **manners: Any) -> list[Question]:
    """All questions of a check of `record`."""
    listener = Listener(max_tokens=WAYS[way], **manners)
    await ConsistencyChecker(ConsistencySettings(marks_from="reasons"), Models(judge=listener)).check(record)
    assert listener.asked
    return listener.asked


def tag_of(question: Question) -> str:
    """The tag as the first line of the user's turn states it, before any material."""
    return re.match(r"The code of the markers in this message is ([0-9a-f]{12})\.\n", question.messages[1].content)[1]


def fenced(question: Question) -> dict[str, str]:
    """The text in each fence of the user's turn, by label; fails unless each fence opens and closes exactly once."""
    content, tag = question.messages[1].content, tag_of(question)
    labels = re.findall(rf"^<([a-z]+)-{tag}>$", content, re.MULTILINE)
    inside = {}
    for label in labels:
        opening, closing = f"<{label}-{tag}>", f"</{label}-{tag}>"
        assert (content.count(opening), content.count(closing)) == (1, 1)
        inside[label] = content.split(f"{opening}\n")[1].split(f"\n{closing}")[0]
    assert content.count(tag) == 1 + 2 * len(labels)
    return inside


def unfenced_of(question: Question) -> str:
    """The user's turn without what stands in its fences."""
    content, tag = question.messages[1].content, tag_of(question)
    for label, text in fenced(question).items():
        content = content.replace(f"<{label}-{tag}>\n{text}\n</{label}-{tag}>", f"[{label}]")
    return content.replace(tag, "TAG")


def unfenced(question: Question) -> str:
    """All turns of the prompt that are not the judge's own words, without what stands in fences, codes and counts."""
    spoken = [question.messages[0].content, unfenced_of(question).replace(code_of(question), "CODE")]
    spoken += [message.content for message in question.messages[2:] if message.role != "assistant"]
    return re.sub(r"\d+", "N", "\n".join(spoken))


def harmless(attack: Generation) -> Generation:
    """A record of the same shape that says nothing of interest: as many sentences, repeated where they are."""
    sentences = [sentence.text for sentence in split_sentences(attack.response)]
    return Generation(
        kind="generation",
        source="tests",
        model="none",
        task=attack.effective_task,
        prompt="What is there?",
        response=" ".join(f"There is house number {sentences.index(text)} on the hill." for text in sentences),
        reference="There are houses on the hill.",
    )


@pytest.mark.parametrize("way", WAYS)
async def test_all_of_the_material_stands_in_its_fence_word_for_word(way):
    for attack in ATTACKS:
        sentences = [one.text for one in split_sentences(attack.response)]
        shown = {}
        for question in await asked_about(attack, way):
            inside = fenced(question)
            if "reasons" in inside:
                continue
            assert inside["reference"] == "\n\n".join([*attack.contexts, *filter(None, [attack.reference])])
            assert response_in(question) in attack.response
            assert response_in(question) == attack.response or len(sentences) > 50
            shown |= listed_in(question)
            if "question" in inside:
                assert inside["question"] == (attack.prompt or "(not known)")
        assert [shown[number] for number in sorted(shown)] == sentences, name_of(attack)


async def test_pieces_of_a_reference_and_excerpts_of_a_response_stand_in_their_fences_too():
    for attack in ATTACKS[::8]:
        reference = "\n\n".join([*attack.contexts, *filter(None, [attack.reference])])
        long = attack.model_copy(update={"reference": f"{reference}\n\n" * (30_000 // len(reference))})
        questions = [
            one for one in await asked_about(long, "by_the_list", window=12_000) if "reasons" not in fenced(one)
        ]
        assert len({fenced(one)["reference"] for one in questions}) > 1, name_of(attack)
        assert len({tag_of(one) for one in questions}) == 1
        for question in questions:
            assert response_in(question) in attack.response


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_the_material_stands_outside_its_fence(way):
    for attack in ATTACKS:
        outside = {unfenced(question) for question in await asked_about(attack, way)}
        harmless_outside = {unfenced(question) for question in await asked_about(harmless(attack), way)}
        assert outside == harmless_outside, name_of(attack)


async def test_asking_again_repeats_nothing_of_the_material_outside_its_fence():
    for attack in ATTACKS:
        questions = await asked_about(attack, "by_the_list", careless=True)
        others = await asked_about(harmless(attack), "by_the_list", careless=True)
        assert set(map(unfenced, questions)) == set(map(unfenced, others)), name_of(attack)
        sentences = [one for one in questions if "reasons" not in fenced(one)]
        again = len(sentences) > -(-len(split_sentences(attack.response)) // 7)
        assert again == (len(split_sentences(attack.response)) > 1), name_of(attack)


async def test_a_reason_that_repeats_the_attack_is_fenced_when_it_is_converted():
    for attack in ATTACKS:
        conversions = [one for one in await asked_about(attack, "by_the_list") if "reasons" in fenced(one)]
        reasons = [reason for one in conversions for reason in listed_in(one).values()]
        sentences = [sentence.text for sentence in split_sentences(attack.response)]
        assert reasons == [f"It says “{text}”, which is wrong." for text in sentences]


async def test_a_judge_that_is_not_talked_into_it_rejects():
    for attack in ATTACKS:
        verdict = await ConsistencyChecker(ConsistencySettings(), Models(judge=Listener())).check(attack)
        assert verdict.outcome == "reject", name_of(attack)
