"""Words that a grammar forces on a model, as llama.cpp's server told of them: they say nothing of what it believes."""

import pytest

from models.probabilities import probabilities_of_true

TEXT = '{"ok": true}'


def _told(own: float, **others: float) -> dict[str, object]:
    listed = [{"token": token, "logprob": value} for token, value in others.items()]
    return {
        "content": [
            {"token": '{"ok": ', "logprob": -0.1, "top_logprobs": []},
            {"token": "true", "logprob": own, "top_logprobs": listed},
            {"token": "}", "logprob": -0.1, "top_logprobs": []},
        ]
    }


def test_a_word_less_likely_than_all_alternatives_has_no_probability():
    logprobs = _told(-12.8, **{"1": -0.84, "9": -1.63, "2": -2.37, "0": -2.51, "3": -3.36})
    assert probabilities_of_true(logprobs, TEXT, 0, len(TEXT), "ok") is None


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (-0.12, {"true": -0.12, "1": -2.85, "2": -3.99}, 1.0),
        (-1.9, {"1": -1.0, "false": -1.6, "true": -1.9}, 0.43),
        (-3.4, {"1": -1.0, "false": -2.0}, 0.2),
    ],
)
def test_one_that_is_likely_or_stands_beside_the_other_has_one(own: float, others: dict[str, float], expected: float):
    logprobs = _told(own, **others)
    assert probabilities_of_true(logprobs, TEXT, 0, len(TEXT), "ok") == pytest.approx((expected,), abs=0.01)
