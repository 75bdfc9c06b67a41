"""The worked examples in prompts: each reply in them is of the form that is asked for."""

import json
import re
from importlib import resources

import pytest
from pydantic import BaseModel

from checkers.equivalence.questions import EquivalenceReply, ParaphraseReply
from checkers.extraction.questions import EntitiesReply, OthersReply, ParaphrasesReply
from checkers.labelling.questions import GenerateReply, LabelReply, PickReply
from lab.audit.triplets import ChangedRewording, Evidence, Quality, Rewording

FORMS: dict[str, type[BaseModel]] = {
    "checkers.equivalence/equivalent": EquivalenceReply,
    "checkers.equivalence/paraphrase": ParaphraseReply,
    "checkers.extraction/entities": EntitiesReply,
    "checkers.extraction/names": OthersReply,
    "checkers.extraction/synonyms": OthersReply,
    "checkers.extraction/rewording": ParaphrasesReply,
    "checkers.labelling/label": LabelReply,
    "checkers.labelling/pick": PickReply,
    "checkers.labelling/generate": GenerateReply,
    "lab.audit/back_translation": ChangedRewording,
    "lab.audit/edit": ChangedRewording,
    "lab.audit/inference": Evidence,
    "lab.audit/positive": Rewording,
    "lab.audit/quality": Quality,
}


@pytest.mark.parametrize("prompt", FORMS)
def test_each_example_is_a_reply_of_the_form_that_is_asked_for(prompt: str):
    package, name = prompt.split("/")
    _, *turns = re.split(r"=== (\w+) ===", resources.files(f"{package}.prompts").joinpath(f"{name}.txt").read_text())
    shown = "".join(text for role, text in zip(turns[::2], turns[1::2], strict=True) if role == "assistant")
    rest = shown or turns[1].partition("xample")[2]
    assert "{" in rest
    while (at := rest.find("{")) >= 0:
        reply, length = json.JSONDecoder(strict=False).raw_decode(rest[at:])
        FORMS[prompt].model_validate(reply, strict=True)
        rest = rest[at + length :]
