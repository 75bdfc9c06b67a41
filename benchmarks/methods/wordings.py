"""One question in several wordings: whether sentences say the same, which label a string has, whether a fact holds."""

import argparse
import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict
from sklearn.metrics import roc_auc_score

from benchmarks import datasets
from benchmarks.asked import patient
from benchmarks.methods.equivalence import pairs_of
from benchmarks.methods.model import asked
from benchmarks.methods.retrieval import plain
from benchmarks.tables import table
from checkers.checker import Models
from checkers.equivalence.alignment import Aligner
from checkers.equivalence.proof import prove
from checkers.equivalence.questions import EquivalencePrompts, EquivalenceReply, Subject, graded
from checkers.intervals import wilson
from checkers.labelling.questions import Exemplar, LabellingPrompts
from checkers.labelling.rubric import load_rubric
from lab.equivalence import LabelledPair
from lab.link.search import START
from models.judges.prompted import PromptedJudge
from models.prompts import QUESTIONS, WORD_TOKENS
from models.protocol import Message, Model, ModelFailed, Question, YesNo, odds_of
from schemas.base import Text

_RUBRIC = Path("examples/rubrics/in-phenomenon.yaml")
_SHOWN, _TERSE_TOKENS = 5, 300
_TERSE = """Label a binary string by this rubric. Say first which criteria the string meets, then give its label.

Rubric:
{rubric}

The label: {aggregator}

Labelled strings:
{examples}

Reply with JSON: {{"reasons": a text, "label": "0" or "1"}}."""

_OURS, _THEIRS = "Explain it shortly, then answer yes or no.", "Answer yes or no, then explain it shortly."


class _AnswerFirst(BaseModel):
    """The paper's order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Literal["yes", "no"]
    explanation: Text


def measure(options: argparse.Namespace) -> None:
    """Print for each wording how many answers are right, and how many say yes."""
    with asked(options) as models:
        model = models.subjects[options.model]
        print(table(["asked", "pairs", "yes", "right", "95%"], asyncio.run(_lines(options, model))))


async def _lines(options: argparse.Namespace, model: Model) -> list[list[object]]:
    prompts, by_word, pairs = EquivalencePrompts(), plain(model), pairs_of(options)

    async def ours(pair: LabelledPair) -> bool:
        question = prompts.equivalent(pair.sentence1, pair.sentence2)
        return (await model.ask(question)).reply.answer == "yes"

    async def theirs(pair: LabelledPair) -> bool:
        question = _answer_first(prompts.equivalent(pair.sentence1, pair.sentence2))
        return (await model.ask(question)).reply.answer == "yes"

    async def word(pair: LabelledPair) -> bool:
        return await by_word(pair.sentence1, pair.sentence2) >= 1 / 2

    ways = {"explanation first": ours, "answer first, as the paper": theirs, "one plain word": word}
    return [[name, *await _figures(ask, pairs)] for name, ask in ways.items()]


async def _figures(ask: Callable[[LabelledPair], Awaitable[bool]], pairs: list[LabelledPair]) -> list[object]:
    yes = right = 0
    for pair in pairs:
        try:
            said = await ask(pair)
        except ModelFailed:
            continue
        yes, right = yes + said, right + (said is pair.label)
    return [len(pairs), yes, right / len(pairs), "{:.2f} to {:.2f}".format(*wilson(right, len(pairs)))]


def _answer_first(question: Question[EquivalenceReply]) -> Question[_AnswerFirst]:
    def turned(message: Message) -> Message:
        if message.role != "assistant":
            return Message(message.role, message.content.replace(_OURS, _THEIRS))
        reply = json.loads(message.content)
        return Message("assistant", json.dumps({"answer": reply["answer"], "explanation": reply["explanation"]}))

    return Question(
        question.task, question.prompt_version, tuple(map(turned, question.messages)), _AnswerFirst,
        max_tokens=question.max_tokens,
    )  # fmt: skip


def phrases(options: argparse.Namespace) -> None:
    """Print how many pairs of each label are proved as phrases are asked about: alone, or in their sentences.

    Of MSRP's training part, as this chooses the form.
    """
    with asked(options) as models:
        print(table(["phrases asked", "same", "proved", "different", "proved"], asyncio.run(_proved(options, models))))


async def _proved(options: argparse.Namespace, models: Models) -> list[list[object]]:
    subject, aligner = Subject(models.subjects[options.model], EquivalencePrompts(), None), Aligner()
    assert isinstance(models.judge, PromptedJudge)  # noqa: S101 -- of this backend
    pinned = PromptedJudge(models.judge.model, patient(options, form="short", threshold=0.0))
    rows: list[list[object]] = []
    for name in ("one word", "one word, in their sentences"):
        counts = {True: [0, 0], False: [0, 0]}
        for pair in pairs_of(options, "msrp_train_sample"):
            aligned = await aligner.align(pair.sentence1, pair.sentence2)
            ask = subject.phrases if name == "one word" else partial(graded, pinned, (pair.sentence1, pair.sentence2))
            count = counts[bool(pair.label)]
            count[0] += 1
            count[1] += (await prove(aligned, ask, "or")).found
        rows.append([name, *counts[True], *counts[False]])
    await aligner.close()
    return rows


class _Terse(BaseModel):
    """The paper's form: one text of reasons, then the label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reasons: Text
    label: Literal["0", "1"]


def labels(options: argparse.Namespace) -> None:
    """Print for each wording of the labelling question how many labels of binary strings are right (No-Data)."""
    corpus = list(datasets.rows(options.data, "no_data_algorithm", "in_phenomenon_train.jsonl"))
    shown = [Exemplar(x=row["x"], y=row["y"]) for row in corpus[:_SHOWN]]
    drawn = [(row["x"], str(row["y"])) for row in Random(1).sample(corpus[_SHOWN:], options.rows)]
    with asked(options) as models:
        found = asyncio.run(_labelled(models.subjects[options.model], shown, drawn))
    print(table(["asked", "datapoints", "answered", "right", "95%"], found))


async def _labelled(model: Model, shown: list[Exemplar], drawn: list[tuple[str, str]]) -> list[list[object]]:
    rubric, prompts = load_rubric(_RUBRIC), LabellingPrompts()

    def terse(x: str) -> Question[_Terse]:
        examples = "\n".join(f"{one.x}: {one.label}" for one in shown)
        system = _TERSE.format(rubric=rubric.described, aggregator=rubric.aggregator.description, examples=examples)
        messages = (Message("system", system), Message("user", x))
        return Question("label", "1", messages, _Terse, max_tokens=_TERSE_TOKENS)

    async def in_short(x: str) -> str:
        return (await model.ask(terse(x))).reply.label

    async def by_criterion(x: str) -> str:
        return (await model.ask(prompts.label(rubric, x, shown))).reply.label

    rows: list[list[object]] = []
    for name, ask in {"criterion by criterion": by_criterion, "short, as the paper": in_short}.items():
        answered = right = 0
        for x, label in drawn:
            with suppress(ModelFailed):
                said = await ask(x)
                answered, right = answered + 1, right + (said == label)
        interval = "{:.2f} to {:.2f}".format(*wilson(right, len(drawn)))
        rows.append([name, len(drawn), answered, right / len(drawn), interval])
    return rows


_FACTS = (
    ("Thiamine is a vitamin or mineral.", "Lasagne is a vitamin or mineral."),
    ("Lentils are food.", "Gravel is food."),
    ("A donkey is an animal.", "A tractor is an animal."),
    ("The Alhambra is a landmark.", "Photosynthesis is a landmark."),
    ("Bolivia is a country.", "Lisbon is a country."),
    ("Liver is rich in vitamin A.", "White rice is rich in vitamin A."),
    ("Oranges are rich in vitamin C.", "Butter is rich in vitamin C."),
    ("Spinach is rich in iron.", "Apples are rich in iron."),
    ("Yoghurt is rich in calcium.", "Honey is rich in calcium."),
    ("Bananas are rich in potassium.", "Olive oil is rich in potassium."),
    ("Seaweed is rich in iodine.", "Cucumber is rich in iodine."),
    ("A hippopotamus is heavier than a goat.", "A goat is heavier than a hippopotamus."),
    ("A walrus is heavier than a badger.", "A badger is heavier than a walrus."),
    ("A bison is heavier than a sheep.", "A sheep is heavier than a bison."),
    ("A camel is heavier than a wolf.", "A hedgehog is heavier than a wolf."),
    ("A moose is heavier than a beaver.", "An otter is heavier than a cow."),
    ("Machu Picchu is not in Brazil.", "Machu Picchu is not in Peru."),
    ("Big Ben is not in Ireland.", "Big Ben is not in England."),
    ("Petra is not in Egypt.", "Petra is not in Jordan."),
    ("Angkor Wat is not in Thailand.", "Angkor Wat is not in Cambodia."),
    ("The Acropolis is not in Italy.", "The Acropolis is not in Greece."),
    ("Neuschwanstein Castle is not in Austria.", "Neuschwanstein Castle is not in Germany."),
    ("Table Mountain is not in Kenya.", "Table Mountain is not in South Africa."),
    ("Mount Fuji is not in China.", "Mount Fuji is not in Japan."),
    ("Niagara Falls is not in Spain.", "Niagara Falls is not in Canada."),
    ("The Brandenburg Gate is not in Poland.", "The Brandenburg Gate is not in Germany."),
    ("Loch Ness is not in Wales.", "Loch Ness is not in Scotland."),
    ("Uluru is not in New Zealand.", "Uluru is not in Australia."),
    ("Borobudur is not in Vietnam.", "Borobudur is not in Indonesia."),
)
"""What LINK's critic is asked of three bundled rules, types first: one that holds, and one that does not."""


def critic(options: argparse.Namespace) -> None:
    """Print for each wording of the critic's question (LINK) how it tells what holds from what does not."""
    heads = ["asked", "pairs", "choice", "95%", "AUROC", f"true from {START}", f"false from {START}"]
    with asked(options) as models:
        print(table(heads, asyncio.run(_criticised(models.subjects[options.model]))))


async def _criticised(model: Model) -> list[list[object]]:
    def plainly(statement: str) -> Question[YesNo]:
        asked_about = f"Is this statement correct? Answer yes or no.\n{statement}"
        return Question("critic", "1", (Message("user", asked_about),), YesNo, max_tokens=WORD_TOKENS)

    def worked(statement: str) -> Question[YesNo]:
        return QUESTIONS.word("true_statement", "longtail.critic", {"statement": statement})

    places = [pair for pair in _FACTS if "is not in" in pair[0]]
    outside = [[one.replace("is not in", "lies outside") for one in pair] for pair in places]
    rows: list[list[object]] = []
    for name, facts, ask in (
        ("with worked examples", _FACTS, worked),
        ("zero-shot, as the paper", _FACTS, plainly),
        ("landmarks: is not in", places, worked),
        ("landmarks: lies outside", outside, worked),
    ):
        odds = [[odds_of(await model.ask(ask(statement))) for statement in pair] for pair in facts]
        chosen = sum(true > false for true, false in odds)
        sides = list(zip(*odds, strict=True))
        accepted = [sum(one >= math.log(START / (1 - START)) for one in side) / len(side) for side in sides]
        auroc = float(roc_auc_score([1] * len(odds) + [0] * len(odds), [*sides[0], *sides[1]]))
        interval = "{:.2f} to {:.2f}".format(*wilson(chosen, len(odds)))
        rows.append([name, len(odds), chosen / len(odds), interval, auroc, *accepted])
    return rows
