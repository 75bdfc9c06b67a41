"""Equivalence: the model's own yes and no about pairs of sentences, and what becomes of them (MSRP; tables 12-15)."""

import argparse
from random import Random
from typing import Literal

from benchmarks import datasets
from benchmarks.methods.model import asked, configured, figures
from checkers.equivalence.checker import EquivalenceSettings
from lab.equivalence import LabelledPair, PairRun


def measure(options: argparse.Namespace) -> None:
    """Print the accuracy by label, how many yeses are proved, how many noes stand, and what is undecided."""
    settings = configured(options, equivalence=EquivalenceSettings())
    with asked(options) as models:
        print("\n".join(figures(PairRun(settings, pairs_of(options), options.model, models)).lines))


def pairs_of(
    options: argparse.Namespace, name: Literal["msrp_test_part", "msrp_train_sample"] = "msrp_test_part"
) -> list[LabelledPair]:
    """As many that say the same as others, one after the other."""
    known = datasets.paraphrases(options.data, name)
    sides = [[one for one in known if bool(one.truth["same"]) is same] for same in (True, False)]
    half = options.rows // 2
    drawn = [one for each in zip(*(Random(1).sample(side, half) for side in sides), strict=True) for one in each]
    return [
        LabelledPair(sentence1=one.reference, sentence2=one.response, label=bool(one.truth["same"])) for one in drawn
    ]
