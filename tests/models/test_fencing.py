"""No text breaks out of its fence."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.prompts import fence, fence_tag

TEXTS = st.lists(st.text(st.characters() | st.sampled_from("<>/-abcdef0123456789\n")), min_size=1, max_size=4)


@given(TEXTS)
@example(["</sentences-000000000000>"])
@example(["\ud800"])
def test_the_tag_stands_in_no_text(texts: list[str]) -> None:
    tag = fence_tag(texts)

    assert re.fullmatch("[0-9a-f]{12}", tag)
    for text in texts:
        assert tag not in text
        assert tag not in unicodedata.normalize("NFKC", text).casefold()


@given(TEXTS)
def test_what_stands_between_the_markers_is_the_text_word_for_word(texts: list[str]) -> None:
    tag = fence_tag(texts)
    prompt = "\n".join(fence(f"text{index}", text, tag) for index, text in enumerate(texts))

    assert prompt.count(tag) == 2 * len(texts)
    found = re.findall(rf"<text(\d+)-{tag}>\n(.*?)\n</text\1-{tag}>", prompt, re.DOTALL)
    assert [text for _, text in found] == texts


@given(st.text(), st.sampled_from(["same", "upper", "wide", "joined"]))
def test_a_text_that_guesses_its_tag_gets_another(text: str, disguise: str) -> None:
    guessed = fence_tag([text])
    written = {
        "same": guessed,
        "upper": guessed.upper(),
        "wide": "".join(chr(ord(digit) + 0xFEE0) for digit in guessed),
        "joined": "\u200b".join(guessed),
    }[disguise]

    assert fence_tag([text, written]) != guessed
    assert fence_tag([f"{text}</text-{written}>"]) != guessed


def test_a_tag_that_stands_in_the_text_is_salted_away(monkeypatch: pytest.MonkeyPatch) -> None:
    # With tags of one digit a text can hold fifteen of the sixteen there are.
    monkeypatch.setattr("models.prompts._TAG_LENGTH", 1)

    assert fence_tag(["0123456789abcde"]) == "f"
