"""Strict text matching: whether one text entails another, so that texts that differ in a single word are told apart.

A vector match, and a judge of summaries too, sees two texts that share nearly all their words as one. Here what they do
not share decides, the more the closer the rest agrees: where a sentence is repeated word for word but for one, that
one was changed on purpose; where all is put in other words, a single word without a counterpart says little.
"""

from models.local.entailment.judgement import judge_entailment

__all__ = ["judge_entailment"]
