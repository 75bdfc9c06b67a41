"""Balanced accuracy on the data sets at hand, printed: what it is worth on yours, measure on yours."""

from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.datasets import Example, paraphrases, qags
from models.local_settings import NAMED_JUDGES
from models.protocol import Claims, ModelFailed
from tests.weights.conftest import LoadJudge

ON_A_PROCESSOR = 40
"""Examples of a set where there is no GPU: more take hours."""

SETS = ("QAGS-CNN, sentences", "QAGS-XSUM, sentences", "PAWS-Wiki")


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("name", NAMED_JUDGES)
def test_it_is_better_than_a_coin(
    judge_by_name: LoadJudge, data: Path, capsys: pytest.CaptureFixture[str], name: str, which: str
) -> None:
    import torch

    examples = examples_of(data, which)
    taken = examples if torch.cuda.is_available() else examples[:ON_A_PROCESSOR]
    graded = judge_by_name(name).judge([claims_of(example) for example in taken])

    told = [
        (truth, one.supported)
        for example, each in zip(taken, graded, strict=True)
        if not isinstance(each, ModelFailed)
        for truth, one in zip(truths_of(example), each, strict=True)
    ]
    found = fmean(fmean(supported is truth for own, supported in told if own is truth) for truth in (True, False))
    with capsys.disabled():
        print(f"\n{name}, {which}: balanced accuracy {found:.3f} over {len(told)} claims of {len(taken)} examples")
    assert found > 0.5


def examples_of(data: Path, which: str) -> list[Example]:
    if which == "PAWS-Wiki":
        return paraphrases(data, "paws_wiki")
    return qags(data, "cnndm" if "CNN" in which else "xsum")


def claims_of(example: Example) -> Claims:
    return Claims(example.reference, example.sentences or (example.response,), example.task)


def truths_of(example: Example) -> tuple[bool, ...]:
    return example.sentence_truth or (next(iter(example.truth.values())) > 0.5,)
