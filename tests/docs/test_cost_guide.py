"""The guide to cost: how long the prompts are."""

import re
from pathlib import Path

from checkers.estimate import CHARACTERS_A_TOKEN
from models.fencing import FENCE_RULE

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "cost.md").read_text("utf-8")


def test_each_prompt_is_about_as_long_as_the_guide_says():
    rows = re.findall(r"^\| (`\w+`[^|]*) \| ([\d,; ]+) \|$", GUIDE, re.MULTILINE)
    told = {
        name: int(tokens)
        for names, figures in rows
        for name, tokens in zip(re.findall(r"`(\w+)`", names), re.findall(r"\d+", figures), strict=True)
    }
    assert len(told) == 17
    for path in (ROOT / "checkers").glob("*/prompts/*.txt"):
        if path.stem in told:
            text = path.read_text("utf-8").partition("=== system ===")[2]
            tokens = len(text + FENCE_RULE) / CHARACTERS_A_TOKEN
            assert abs(told[path.stem] - tokens) <= 0.1 * tokens, path.stem
