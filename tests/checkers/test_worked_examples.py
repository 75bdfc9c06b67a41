"""The worked examples in prompts: each prompt about material has one, and each reply in it is one that is accepted."""

import json
import re
from importlib import resources

import pytest
from pydantic import BaseModel

from checkers.equivalence.questions import EquivalenceReply, ParaphraseReply
from checkers.extraction.questions import EntitiesReply, OthersReply, ParaphrasesReply
from checkers.labelling.questions import GenerateReply, LabelReply, PickReply
from lab.audit import triplets as edits

FORMS: dict[str, type[BaseModel]] = {
    "equivalence/equivalent": EquivalenceReply,
    "equivalence/paraphrase": ParaphraseReply,
    "extraction/entities": EntitiesReply,
    "extraction/names": OthersReply,
    "extraction/synonyms": OthersReply,
    "extraction/rewording": ParaphrasesReply,
    "labelling/label": LabelReply,
    "labelling/pick": PickReply,
    "labelling/generate": GenerateReply,
    "edits/back_translation": edits.ChangedRewording,
    "edits/inference": edits.Evidence,
    "edits/positive": edits.Rewording,
    "edits/quality": edits.Quality,
    "edits/edit": edits.ChangedRewording,
}


def examples_in(prompt: str) -> str:
    """The assistant's turns, or what stands in the system turn from its examples on."""
    method, name = prompt.split("/")
    package = "lab.audit.prompts" if method == "edits" else f"checkers.{method}.prompts"
    text = resources.files(package).joinpath(f"{name}.txt").read_text("utf-8")
    turns = re.split(r"=== (\w+) ===", text)
    shown = "".join(text for role, text in zip(turns[1::2], turns[2::2], strict=True) if role == "assistant")
    examples = shown or turns[2].partition("xample")[2]
    assert examples, f"{prompt} has no worked example"
    return examples


def replies_in(examples: str) -> list[object]:
    found, at = [], 0
    while (at := examples.find("{", at)) >= 0:
        reply, length = json.JSONDecoder(strict=False).raw_decode(examples[at:])
        found.append(reply)
        at += length
    return found


@pytest.mark.parametrize("prompt", FORMS)
def test_each_example_is_a_reply_of_the_form_that_is_asked_for(prompt: str):
    replies = replies_in(examples_in(prompt))
    assert replies
    for reply in replies:
        FORMS[prompt].model_validate(reply, strict=True)
