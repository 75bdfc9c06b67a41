"""The model file that `judge.backend = "llama"` takes by itself, from the Hugging Face hub."""

from models.build import build_judge
from models.protocol import ClaimKind, Claims
from models.settings import JudgeSettings

FERRY = "The ferry to Ilmen leaves at 9:40 from the north pier."


async def test_the_default_model_tells_what_a_passage_says_from_what_it_does_not() -> None:
    judge = build_judge(JudgeSettings(backend="llama", form="short", threshold=0.0))
    try:
        asked = "When does the ferry to Ilmen leave?"
        answers = [("The ferry to Ilmen leaves at 9:40.",), ("The ferry to Ilmen leaves at 17:15.",)]
        claims = [Claims(FERRY, answer, ClaimKind.ANSWER, asked) for answer in answers]
        right, wrong = (await judge.grade("consistency.answer", claims)).reply
    finally:
        await judge.close()
    assert right[0].support > wrong[0].support
