"""LettuceDetect as evidence: the words that no piece of the reference supports, in the reasons."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.claims import Claims, Judgement
from models.grounding.grader import named_grader
from models.grounding.pairs import PairReader
from models.grounding.spans import LETTUCEDETECT, LIMIT, SpanDetector, SpannedJudge
from models.local.settings import LocalSettings
from models.local_grader import Graded, Wanted, always
from models.protocol import OracleFailed
from tests.support.grounding import random_bert, spelling_tokenizer, write_checkpoint
from tests.support.hub import empty_cache, keep


class MarksStrangers:
    """A network that marks the letters of a response that its prompt does not have."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        ids, kinds = inputs["input_ids"], inputs["token_type_ids"]
        logits = np.zeros((*ids.shape, 2), dtype=np.float32)
        for row, (own, kind) in enumerate(zip(ids, kinds, strict=True)):
            self.prompts.append(spelling_tokenizer().decode(own[kind == 0], skip_special_tokens=True))
            letters = {self.letter(number) for number in own[kind == 0]}
            for place, number in enumerate(own):
                logits[row, place, int(self.letter(number) not in letters)] = 1.0
        return logits

    @staticmethod
    def letter(number: int) -> str:
        return str(spelling_tokenizer().convert_ids_to_tokens(int(number))).removeprefix("##")


@pytest.fixture
def network() -> MarksStrangers:
    return MarksStrangers()


@pytest.fixture
def detector(network: MarksStrangers) -> SpanDetector:
    return SpanDetector(spelling_tokenizer(), PairReader(spelling_tokenizer(), network, limit=LIMIT))


def test_stretches_are_told_by_sentence_word_for_word_up_to_their_ends(detector: SpanDetector) -> None:
    claims = Claims("The mill is at the lake.", ("The mill XX9 9 at  8 the lake.", "It 7.", "At the mill."), "summary")

    (found,) = detector.spans([claims])

    assert found == [("XX9 9", "8"), ("7.",), ()]


def test_a_word_is_supported_if_one_piece_of_a_long_reference_supports_it(
    detector: SpanDetector, network: MarksStrangers
) -> None:
    reference = "77 " * 1500 + "the end. " + "88 " * 1500

    (found,) = detector.spans([Claims(reference, ("77 88 99",), "summary")])

    assert found == [("99",)]
    assert len(network.prompts) > 1


def test_a_long_response_is_read_in_parts_and_what_is_too_long_alone_tells_nothing(detector: SpanDetector) -> None:
    sentences = ("It 9. " + "is " * 800, "It 8. " + "is " * 800, "It 7. " + "is " * 3000, "It 6.")

    (found,) = detector.spans([Claims("It is.", sentences, "summary")])

    assert found == [("9.",), ("8.",), (), ("6.",)]


def test_answers_are_read_behind_their_question(detector: SpanDetector, network: MarksStrangers) -> None:
    detector.spans(
        [Claims("It left.", ("It left.",), "answer", "Did it leave?"), Claims("It left.", ("It.",), "answer")]
    )

    assert sorted(prompt.partition(":")[0].strip() for prompt in network.prompts) == [
        "briefly answer the following question",
        "summarize the following text",
    ]


def test_a_question_that_leaves_no_room_for_the_reference_tells_nothing(
    detector: SpanDetector, network: MarksStrangers
) -> None:
    long = Claims("It left at 5. " * 100, ("It left at 9.",), "answer", "Did it leave? " * 320)

    (found,) = detector.spans([long])

    assert found == [()]
    assert network.prompts == []


class Refuses:
    """Grades the first entry, and fails of the second."""

    def judge(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[Graded]:
        graded = (Judgement(0.2, "so it is", None), Judgement(0.9, "so it is", None))
        return [graded, OracleFailed("too long", cause="too_long")]


def test_reasons_name_the_stretches_and_grades_stay(detector: SpanDetector) -> None:
    judge = SpannedJudge(Refuses(), LocalSettings(), say=pytest.fail)
    judge._detector = detector
    claims = Claims("The mill.", ("At 1 it 2 is 3 or 4 me.", "The mill."), "summary")

    graded, refused = judge.judge([claims, claims])

    assert graded == (
        Judgement(0.2, "lettucedetect finds no support for “1”, “2”, “3” and 1 more; so it is", None),
        Judgement(0.9, "so it is", None),
    )
    assert isinstance(refused, OracleFailed)


async def test_it_is_loaded_from_the_hub_beside_the_bundled_judge(tmp_path: Path) -> None:
    from transformers import BertForTokenClassification

    model = BertForTokenClassification(random_bert(2, positions=LIMIT).config)
    with empty_cache(tmp_path / "hub", "http://127.0.0.1:9") as cache:
        keep(cache, LETTUCEDETECT.repository, write_checkpoint(tmp_path / "model", model, spelling_tokenizer()))
        grader = named_grader(LocalSettings(spans="lettucedetect", threads=1), say=pytest.fail)
        claims = Claims("The parcel left on Monday.", ("The parcel left on Friday.",), "summary")
        phrase = Claims("buy", ("purchase",), "phrase", around=("I buy it.", "I purchase it."))

        ((judged,), (other,)) = (await grader.grade("t", [claims, phrase])).reply
        await grader.close()

    assert judged.support < 0.5
    assert grader.name.endswith("+lettucedetect")
    assert "lettucedetect" not in other.reason
