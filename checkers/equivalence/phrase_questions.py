"""The questions that are put to a model about sentences and phrases (the paper's prompts 5 to 7)."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from models.prompts import Placeholders, PromptSet
from models.protocol import Question
from schemas.base import Text

MANNERS = (
    "Use other words where you can.",
    "Change the order of its parts.",
    "Begin with another word.",
    "Say it as simply as you can.",
    "Say it as a careful reporter would.",
)
PARAPHRASES = len(MANNERS)
"""Asked for of each sentence, as in the paper, but one a question: small models repeat themselves in a list."""
_ANSWER_TOKENS = 160
_PARAPHRASE_TOKENS = 40
"""Besides one for each character of the sentence."""


class EquivalenceReply(BaseModel):
    """The answer if two sentences mean, or two phrases could mean, the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    explanation: Text
    answer: Literal["yes", "no"]


class ParaphraseReply(BaseModel):
    """A sentence in other words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paraphrase: Annotated[Text, Field(min_length=1)]


class EquivalencePrompts(PromptSet):
    """Questions about sentences and phrases.

    `under` is the prompt of the application that a subject works for.
    """

    package = "checkers.equivalence.prompts"
    placeholders: ClassVar = {
        "equivalent": Placeholders(("first", "second")),
        "phrase": Placeholders(("first", "second")),
        "paraphrase": Placeholders(("sentence",), ("manner",), ("manner",)),
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

    def paraphrase(self, sentence: str, manner: str, under: str | None = None) -> Question[ParaphraseReply]:
        """A sentence in other words, found in this manner: not too long, not empty, and not the sentence itself."""

        def complaint(reply: ParaphraseReply) -> str | None:
            words, length = words_of(reply.paraphrase), len(reply.paraphrase)
            if not words:
                return "the paraphrase holds no word"
            if length > self._longest:
                return f"the paraphrase has {length} characters; allowed are {self._longest}"
            return "the paraphrase is the sentence itself" if words == words_of(sentence) else None

        return self._question(
            "paraphrase",
            "equivalence.paraphrase",
            ParaphraseReply,
            {"sentence": sentence},
            {"manner": manner},
            under=under,
            complaint=complaint,
            max_tokens=_PARAPHRASE_TOKENS + len(sentence),
        )

    def _comparison(self, name: str, first: str, second: str, under: str | None) -> Question[EquivalenceReply]:
        return self._question(
            name,
            f"equivalence.{name}",
            EquivalenceReply,
            {"first": first, "second": second},
            under=under,
            max_tokens=_ANSWER_TOKENS,
        )


def words_of(text: str) -> str:
    """A text without letter case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())
