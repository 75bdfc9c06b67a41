"""Constituency trees over a sentence's words, by a parser that has no grammar and no lexicon.

Every node is a word, or has two children at least: there are no unary chains and no marks but those that ask.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from models.local.tokens import Token, pieces, tokens
from models.wording import straightened

PARSER = "embedded/5"
"""Another one whenever a sentence may get another tree."""

_PREPOSITIONS = frozenset(
    """
    about above across after against along although amid among around as at because before behind below beneath beside
    besides between beyond by despite down during except for from if in inside into like near of off on onto out outside
    over past per since than that though through throughout till to toward towards under underneath unless until up upon
    versus via whereas whether while with within without
    """.split()
)
_JOINING = frozenset(
    """
    and but nor or plus so yet how what whatever when whenever where wherever which who whoever whom whose why
    """.split()
)
_VERBS = frozenset(
    """
    am are be been being is was were ca can could did do does done had has have having may might must said say says
    shall should will wo would 'd 'll 'm 're 've
    """.split()
)
_BEFORE_VERBS = _VERBS | frozenset("already also always just n't never not often only still to".split())
"""Words that belong to the same chunk as the verb behind them."""
_LONGEST_OF_OTHERS = 4
"""Letters up to which words in -ed are seldom verbs: bed, red, seed."""

_SPOKEN_SIGNS = frozenset("%&@#§†‰")
"""Members of Unicode's punctuation that are read aloud as a word."""
_ASKING = frozenset("?？؟")
"""Marks that make a question of a statement: they are covered like words."""
_KEPT_FORMS = 1024


@dataclass(frozen=True, slots=True)
class Tree:
    """A sentence with its constituents, parents before children."""

    sentence: str
    tokens: tuple[str, ...]
    """The words and marks as they are in the sentence."""
    token_starts: tuple[int, ...]
    """For each token the character of the sentence at which it begins."""
    starts: tuple[int, ...]
    """For each node its first token."""
    ends: tuple[int, ...]
    """For each node the token behind its last."""
    parents: tuple[int, ...]
    """For each node its parent's place; -1 for the root, which is the first."""
    words: tuple[int, ...]
    """The places of the leaves, in the sentence's order."""

    def __len__(self) -> int:
        return len(self.starts)

    def is_preposition(self, leaf: int) -> bool:
        """True for a word that need not be covered where it stands alone."""
        return self.tokens[self.starts[leaf]].lower() in _PREPOSITIONS

    def text(self, node: int) -> str:
        """The sentence's words there."""
        start, end = self.span(node)
        return self.sentence[start:end]

    def span(self, node: int) -> tuple[int, int]:
        """The characters of the sentence from a node's first word to its last."""
        first, last = self.starts[node], self.ends[node] - 1
        return self.token_starts[first], self.token_starts[last] + len(self.tokens[last])


def parse(sentence: str) -> Tree:
    """The tree of a text as one sentence, however many full stops it has; it has no nodes if there is no word.

    It branches to the right: every chunk is followed by one constituent of all that comes behind. A chunk is flat: with
    branches in it "not all seats" would have "all seats", and "not" need no cover.
    """
    cut = tokens(sentence)
    verbatim = tuple(sentence[token.start : token.end] for token in cut)
    chunks: list[list[int]] = []
    for place, token in enumerate(cut):
        if not chunks or _opens_chunk(cut[place - 1], token):
            chunks.append([])
        if verbatim[place] in _ASKING or not is_punctuation(verbatim[place]):
            chunks[-1].append(place)
    chunks = [chunk for chunk in chunks if chunk]
    nodes: list[tuple[int, int, int]] = []
    words: list[int] = []

    def add(start: int, end: int, parent: int) -> int:
        nodes.append((start, end, parent))
        return len(nodes) - 1

    above = -1
    for number, chunk in enumerate(chunks, start=1):
        if number < len(chunks):
            above = add(chunk[0], chunks[-1][-1] + 1, above)
        part = add(chunk[0], chunk[-1] + 1, above)
        words += [part] if len(chunk) == 1 else [add(place, place + 1, part) for place in chunk]
    starts, ends, parents = zip(*nodes, strict=True) if nodes else ((), (), ())
    return Tree(sentence, verbatim, tuple(token.start for token in cut), starts, ends, parents, tuple(words))


def _opens_chunk(before: Token, word: Token) -> bool:
    """True if a word stands behind a mark, introduces a phrase, or begins a group of verbs."""
    if before.end == word.start or is_punctuation(word.text):
        return False
    if is_punctuation(before.text):
        # A full stop within a sentence belongs to an abbreviation: Mr. Weber.
        return before.text != "."
    text = word.text.lower()
    if text in _PREPOSITIONS or text in _JOINING:
        return True
    return _is_verb(text) and not (_is_verb(before.text.lower()) or before.text.lower() in _BEFORE_VERBS)


def _is_verb(text: str) -> bool:
    """True for auxiliaries, forms of "say" and past forms in -ed: letters do not tell other verbs from nouns."""
    return text in _VERBS or (len(text) > _LONGEST_OF_OTHERS and text.endswith("ed"))


def is_punctuation(token: str) -> bool:
    """True for a mark, false for a word."""
    marks = all(sign in "`´" or unicodedata.category(sign)[0] == "P" for sign in token)
    return marks and not _SPOKEN_SIGNS & set(token)


@lru_cache(_KEPT_FORMS)
def plain_form(text: str) -> str:
    """The words and plain marks of a text in lower case, a blank between each: equal for texts that are the same."""
    plain = straightened(unicodedata.normalize("NFC", text)).replace("…", "...")
    return " ".join(pieces(plain.casefold()))


def same_text(first: str, second: str) -> bool:
    """True if two texts are equal up to spacing, letter case, and kinds of quotation marks, dashes and dots.

    Nobody is asked about them.
    """
    return plain_form(first) == plain_form(second)


def holds_words(text: str) -> bool:
    """False if a text is blank or consists of marks."""
    return any(not is_punctuation(piece) for piece in plain_form(text).split())
