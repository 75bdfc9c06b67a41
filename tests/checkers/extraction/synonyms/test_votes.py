"""Votes are those of all runs, though not all are asked for."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from checkers.extraction.synonyms.votes import ranking
from models.protocol import Answer, Question, Sampling


class Ballots(BaseModel):
    votes: list[str]


QUESTION = Question(task="vote", prompt_version="1", messages=(), reply=Ballots)


class Scripted:
    """Gives its answers by number, and counts those that were asked for."""

    name = "scripted"

    def __init__(self, answers):
        self.answers = answers
        self.asked = 0

    async def sample(self, sampling: Sampling):
        self.asked += sampling.count
        found = self.answers[sampling.first : sampling.first + sampling.count]
        return Answer(tuple(None if one is None else Ballots(votes=one) for one in found))


async def ranked(answers):
    oracle = Scripted(answers)
    return await ranking(oracle, QUESTION, len(answers), lambda reply: reply.votes), oracle.asked


async def test_six_of_eleven_decide():
    votes, asked = await ranked([["named"]] * 11)
    assert votes == ["named"]
    assert asked == 6


async def test_answers_that_cannot_be_used_have_no_vote():
    votes, asked = await ranked([None] * 10 + [["named"]])
    assert votes == ["named"]
    assert asked == 11


async def test_without_a_vote_there_is_no_winner():
    assert await ranked([None, []]) == ([], 2)


async def test_a_vote_counts_once_an_answer_and_the_first_wins_a_tie():
    votes, _ = await ranked([["a", "a"], ["b"], ["b", "c"], ["a"]])
    assert votes[:2] == ["a", "b"]


@given(answers=st.lists(st.one_of(st.none(), st.lists(st.sampled_from("abc"), max_size=3)), min_size=1, max_size=11))
async def test_the_winner_is_that_of_all_runs(answers):
    votes, asked = await ranked(answers)
    everything: Counter[str] = Counter()
    for one in answers:
        everything.update(dict.fromkeys(one or [], 1))
    assert votes[:1] == [vote for vote, _ in everything.most_common(1)]
    assert asked <= len(answers)


@pytest.mark.parametrize("seed", range(3))
async def test_a_clear_vote_needs_few_answers(seed):
    draw = random.Random(seed)
    answers = [["a"] if draw.random() < 0.95 else ["b"] for _ in range(11)]
    _, asked = await ranked(answers)
    assert asked < 11
