"""Answerability: if a passage answers a question, which is another task than if one text entails another."""

from models.local.answers.judge import AnswerJudge

__all__ = ["AnswerJudge"]
