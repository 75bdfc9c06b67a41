"""Triplets made from a user's own texts: by rule what rules can make, through a judge the rest."""

from checkers.retrieval.making.maker import Attempt, Missing, by_rule, make_triplets

__all__ = ["Attempt", "Missing", "by_rule", "make_triplets"]
