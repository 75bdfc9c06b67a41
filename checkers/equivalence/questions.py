"""The questions that are put to a model about sentences and phrases (the paper's prompts 5 to 7)."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path

from checkers.equivalence.replies import EquivalenceReply, ParaphrasesReply
from checkers.oracle.prompts import Placeholders, Templates
from checkers.oracle.protocol import Question

PARAPHRASES = 5
"""Asked for of each sentence, as in the paper."""

_PACKAGE = "checkers.equivalence.prompts"

_PLACEHOLDERS = {
    "equivalent": Placeholders(("first", "second")),
    "phrase": Placeholders(("first", "second")),
    "paraphrases": Placeholders(("sentence",), ("count",), ("count",)),
}


class Questions:
    """Renders questions; `own` replaces built-in templates by name.

    Raises:
        ValueError: a name in `own` that no template has, or (as TemplateError) an unusable template.
    """

    def __init__(self, own: Mapping[str, Path] | None = None, *, longest_paraphrase: int) -> None:
        """A paraphrase may have so many characters."""
        self._templates = Templates(_PACKAGE, _PLACEHOLDERS, own)
        self._longest = longest_paraphrase

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return self._templates.versions

    def phrase(self, first: str, second: str) -> Question[EquivalenceReply]:
        """Whether two phrases could mean the same."""
        return self._compared("phrase", first, second)

    def equivalent(self, first: str, second: str) -> Question[EquivalenceReply]:
        """Whether two sentences mean the same."""
        return self._compared("equivalent", first, second)

    def paraphrases(self, sentence: str) -> Question[ParaphrasesReply]:
        """A sentence in `PARAPHRASES` other words: none of them too long, empty, there twice, or the sentence."""
        template = self._templates["paraphrases"]

        def complaint(reply: ParaphrasesReply) -> str | None:
            given = reply.paraphrases
            if len(given) != PARAPHRASES:
                return f"there must be {PARAPHRASES} paraphrases, but 'paraphrases' has {len(given)} entries"
            seen = {_plain(sentence): "the sentence itself"}
            for number, one in enumerate(given, start=1):
                plain = _plain(one)
                if not plain:
                    return f"paraphrase {number} holds no word"
                if len(one) > self._longest:
                    return f"paraphrase {number} has {len(one)} characters; allowed are {self._longest}"
                if plain in seen:
                    return f"paraphrase {number} is the same as {seen[plain]}; it must be put in other words"
                seen[plain] = f"paraphrase {number}"
            return None

        return Question(
            task="equivalence.paraphrases",
            prompt_version=template.version,
            messages=template.render({"sentence": sentence}, {"count": str(PARAPHRASES)}),
            reply=ParaphrasesReply,
            complaint=complaint,
        )

    def _compared(self, name: str, first: str, second: str) -> Question[EquivalenceReply]:
        template = self._templates[name]
        return Question(
            task=f"equivalence.{name}",
            prompt_version=template.version,
            messages=template.render({"first": first, "second": second}),
            reply=EquivalenceReply,
        )


def _plain(text: str) -> str:
    """A text without what no reader hears: letter case, punctuation, white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())
