"""Whether a response contradicts what was said before in its session.

An earlier answer supports nothing: a model's own words would confirm its mistakes. It counts as said, whether its
verdict accepted it or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checkers.consistency.findings import Findings
from models.claims import ClaimKind, Claims, Grades
from models.grounding.pieces import nearest_sentence
from models.protocol import Judge, WindowExceeded
from schemas import EarlierAnswer, SentenceFinding, Turn

_TASK = "consistency.session"


async def contradicted(
    judge: Judge, turns: Sequence[Turn], sentences: Sequence[str], prompt: str | None
) -> Mapping[int, EarlierAnswer]:
    """By their places, the sentences that contradict one of the answers; raises as `Judge.grade` does.

    All answers are looked at together first, a question a sentence, then one by one for those that contradict
    something: of several answers the one that is contradicted most, and of equals the oldest.
    """
    suspects = list(range(len(sentences)))

    async def grades(answers: Sequence[str]) -> Grades:
        said = tuple(sentences[at] for at in suspects)
        claims = [Claims(answer, said, ClaimKind.COMPATIBLE, prompt) for answer in answers]
        return (await judge.grade(_TASK, claims)).reply

    answers = [turn.response for turn in turns]
    if len(answers) > 1:
        try:
            (together,) = await grades(["\n\n".join(answers)])
        except WindowExceeded:
            # Too long together: each by itself.
            pass
        else:
            suspects = [at for at in suspects if not together[at].supported]
    if not suspects:
        return {}
    found: dict[int, EarlierAnswer] = {}
    for at, each in zip(suspects, zip(*await grades(answers), strict=True), strict=True):
        turn, grade = min(zip(turns, each, strict=True), key=lambda one: one[1].support)
        if not grade.supported:
            sentence = grade.passage or nearest_sentence(turn.response, sentences[at])
            found[at] = EarlierAnswer(record_id=turn.record_id, sentence=sentence, support=grade.support)
    return found


def held_against(found: Findings, said: Mapping[int, EarlierAnswer]) -> Findings:
    """The findings, and that those of its claims contradict an earlier answer whose places `said` has."""
    return replace(found, claims=tuple(_contradicting(one, said.get(at)) for at, one in enumerate(found.claims)))


def _contradicting(one: SentenceFinding, earlier: EarlierAnswer | None) -> SentenceFinding:
    if earlier is None:
        return one
    fault = f"contradicts the answer {earlier.record_id}: “{earlier.sentence}”"
    changed = {
        "mark": -1,
        "support": min(one.support, earlier.support),
        "reason": f"{one.reason}; it also {fault}" if one.mark < 0 and not one.unsure else f"it {fault}",
        "unsure": False,
        "contradicts": earlier,
    }
    return one.model_copy(update=changed)
