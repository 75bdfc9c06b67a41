"""Several independent answers to one question, for what is decided by a vote or by how steady a model is."""

from models.concurrent import gather_or_cancel
from models.protocol import Answer, Model, ModelFailed, Question, ReplyT, Sampler, Samples, Sampling
from schemas import Usage
from schemas.evidence import JudgeCause

CAUSES_OF_ONE_REPLY: frozenset[JudgeCause] = frozenset({"judge_unusable", "judge_refused", "judge_cut_off"})
"""Causes that another answer to the same question may not have."""


async def sample(model: Model, question: Question[ReplyT], count: int, first: int = 0) -> Samples[ReplyT]:
    """`count` answers, None for each that cannot be used; nothing is repaired.

    Answers are numbered, from `first` on, for cache and recording: the same numbers give the same answers again.

    Raises:
        ModelUnavailable: the endpoint cannot be reached; ask again later.
        ModelFailed: the question gets no answer at all.
    """
    sampling = Sampling(question, count, first)
    answer = await model.sample(sampling) if isinstance(model, Sampler) else await asked_often(model, sampling)
    return answer.reply


async def asked_often(model: Model, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
    """The samples of a model that knows single questions only, each asked for by itself."""

    async def one() -> Answer[ReplyT | None]:
        try:
            answer = await model.ask(sampling.question)
        except ModelFailed as error:
            if error.cause not in CAUSES_OF_ONE_REPLY:
                raise
            return Answer(None, error.usage)
        return Answer(answer.reply, answer.usage)

    answers = await gather_or_cancel(one() for _ in range(sampling.count))
    seconds = max((answer.usage.seconds for answer in answers), default=0.0)
    usage = Usage.total([answer.usage for answer in answers], seconds=seconds)
    return Answer(tuple(answer.reply for answer in answers), usage)
