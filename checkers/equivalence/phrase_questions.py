"""The questions that are put to a model about sentences and phrases (the paper's prompts 5 to 7)."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from models.prompts import Placeholders, PromptSet
from models.protocol import Question
from schemas.base import Text

PARAPHRASES = 5
"""Asked for of each sentence, as in the paper."""


class EquivalenceReply(BaseModel):
    """The answer if two sentences mean, or two phrases could mean, the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    explanation: Text
    answer: Literal["yes", "no"]


class ParaphrasesReply(BaseModel):
    """A sentence in other words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paraphrases: list[Text]


class EquivalencePrompts(PromptSet):
    """Questions about sentences and phrases.

    `under` is the prompt of the application that a subject works for.
    """

    package = "checkers.equivalence.prompts"
    placeholders: ClassVar = {
        "equivalent": Placeholders(("first", "second")),
        "phrase": Placeholders(("first", "second")),
        "paraphrases": Placeholders(("sentence",), ("count",), ("count",)),
    }

    def __init__(self, own: Mapping[str, Path] | None = None, *, longest_paraphrase: int) -> None:
        """Raises as the base class; a paraphrase has at most `longest_paraphrase` characters."""
        super().__init__(own)
        self._longest = longest_paraphrase

    def phrase(self, first: str, second: str, under: str | None = None) -> Question[EquivalenceReply]:
        """The question if two phrases could mean the same."""
        return self._comparison("phrase", first, second, under)

    def equivalent(self, first: str, second: str, under: str | None = None) -> Question[EquivalenceReply]:
        """The question if two sentences mean the same."""
        return self._comparison("equivalent", first, second, under)

    def paraphrases(self, sentence: str, under: str | None = None) -> Question[ParaphrasesReply]:
        """A sentence in `PARAPHRASES` other words: none of them too long, empty, repeated, or the sentence itself."""

        def complaint(reply: ParaphrasesReply) -> str | None:
            given = reply.paraphrases
            if len(given) != PARAPHRASES:
                return f"there must be {PARAPHRASES} paraphrases, but 'paraphrases' has {len(given)} entries"
            known = {_words_of(sentence): "the sentence itself"}
            for number, text in enumerate(given, start=1):
                words = _words_of(text)
                if not words:
                    return f"paraphrase {number} holds no word"
                if len(text) > self._longest:
                    return f"paraphrase {number} has {len(text)} characters; allowed are {self._longest}"
                if words in known:
                    return f"paraphrase {number} is the same as {known[words]}; it must be put in other words"
                known[words] = f"paraphrase {number}"
            return None

        return self._question(
            "paraphrases",
            "equivalence.paraphrases",
            ParaphrasesReply,
            {"sentence": sentence},
            {"count": str(PARAPHRASES)},
            under=under,
            complaint=complaint,
        )

    def _comparison(self, name: str, first: str, second: str, under: str | None) -> Question[EquivalenceReply]:
        return self._question(
            name, f"equivalence.{name}", EquivalenceReply, {"first": first, "second": second}, under=under
        )


def _words_of(text: str) -> str:
    """A text without letter case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())
