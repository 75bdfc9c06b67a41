"""Whatever a record says, the prompts about it keep it inside its fence, word for word."""

import json
import re

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.replies import Marks, Reasons, SentenceReason
from checkers.consistency.sentences import split_sentences
from checkers.consistency.settings import ConsistencySettings
from checkers.oracle.protocol import Answer, Question, ReplyT
from schemas import Generation
from tests.support.attacks import ATTACKS, name_of

WAYS = {
    "one_call": ConsistencySettings(),
    "per_sentence": ConsistencySettings(calls="per_sentence"),
    "paragraph": ConsistencySettings(granularity="paragraph"),
}


class Listener:
    """A judge that keeps what it was asked, and repeats in its reasons what it was told to judge."""

    name = "listener"

    def __init__(self, *, careless: bool = False) -> None:
        self.asked: list[Question] = []
        self._careless = careless
        """Leaves out the first sentence and rewords the last, so that it is asked again."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        self.asked.append(question)
        if question.reply is Marks:
            count = len(json.loads(fenced(question)["reasons"]))
            return Answer(Marks(reason=["no"] * count, answer=[-1] * count))
        material = fenced(question)
        sentences = json.loads(material["sentences"]) if "sentences" in material else [material["response"]]
        if self._careless and len(question.messages) == 2 and len(sentences) > 1:
            sentences = [*sentences[1:-1], f"It says: {sentences[-1]}"]
        entries = [SentenceReason(sentence=text, reason=f"It says “{text}”, which is wrong.") for text in sentences]
        return Answer(Reasons(reason=entries, is_consistent=False))

    async def close(self) -> None:
        pass


async def asked_about(record: Generation, way: str, *, careless: bool = False) -> list[Question]:
    """All questions of a check of `record`."""
    listener = Listener(careless=careless)
    await ConsistencyChecker(WAYS[way], Models(judge=listener)).check(record)
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


def unfenced(question: Question) -> str:
    """All turns of the prompt that are not the judge's own words, without what stands in fences, tags and counts."""
    content, tag = question.messages[1].content, tag_of(question)
    for label, text in fenced(question).items():
        content = content.replace(f"<{label}-{tag}>\n{text}\n</{label}-{tag}>", f"[{label}]")
    spoken = [question.messages[0].content, content.replace(tag, "TAG")]
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
        sentences = [sentence.text for sentence in split_sentences(attack.response)]
        shown = []
        for question in await asked_about(attack, way):
            inside = fenced(question)
            if "reasons" in inside:
                continue
            assert inside["reference"] == "\n\n".join([*attack.contexts, *filter(None, [attack.reference])])
            shown += json.loads(inside.get("sentences", "[]"))
            if "response" in inside:
                assert inside["response"] == attack.response
            if "question" in inside:
                assert inside["question"] == (attack.prompt or "(not known)")
        assert shown == ([] if way == "paragraph" else sentences), name_of(attack)


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_the_material_stands_outside_its_fence(way):
    for attack in ATTACKS:
        outside = {unfenced(question) for question in await asked_about(attack, way)}
        harmless_outside = {unfenced(question) for question in await asked_about(harmless(attack), way)}
        assert outside == harmless_outside, name_of(attack)


async def test_asking_again_repeats_nothing_of_the_material_outside_its_fence():
    for attack in ATTACKS:
        questions = await asked_about(attack, "one_call", careless=True)
        others = await asked_about(harmless(attack), "one_call", careless=True)
        assert set(map(unfenced, questions)) == set(map(unfenced, others)), name_of(attack)
        again = any(len(question.messages) > 2 for question in questions)
        assert again == (len(split_sentences(attack.response)) > 1), name_of(attack)


async def test_a_reason_that_repeats_the_attack_is_fenced_when_it_is_converted():
    for attack in ATTACKS:
        conversion = (await asked_about(attack, "one_call"))[-1]
        sentences = [sentence.text for sentence in split_sentences(attack.response)]
        reasons = json.loads(fenced(conversion)["reasons"])
        assert reasons == [f"It says “{text}”, which is wrong." for text in sentences]


async def test_a_judge_that_is_not_talked_into_it_rejects():
    for attack in ATTACKS:
        verdict = await ConsistencyChecker(ConsistencySettings(), Models(judge=Listener())).check(attack)
        assert verdict.outcome == "reject", name_of(attack)
