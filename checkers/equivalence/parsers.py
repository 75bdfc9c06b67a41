"""The parser: from a sentence to its constituency tree, by chunks; it has no grammar and no lexicon."""

from collections.abc import Sequence

from checkers.equivalence.trees import Node, Tree, is_punctuation
from models.local.tokens import Token, tokens

PARSER = "embedded/4"
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


def parse_sentence(sentence: str) -> Tree:
    """The tree of a text that is not blank, as one sentence however many full stops it has."""
    cut = tokens(sentence)
    verbatim = tuple(sentence[token.start : token.end] for token in cut)
    chunks: list[list[Node]] = []
    for place, token in enumerate(cut):
        if not chunks or _opens_chunk(cut[place - 1], token):
            chunks.append([])
        # Alignments except single prepositions, and need no other part of speech.
        chunks[-1].append(Node(place, place + 1, "IN" if token.text.lower() in _PREPOSITIONS else ""))
    root = _right_branching([_chunk(words) for words in chunks])
    return Tree(sentence, verbatim, tuple(token.start for token in cut), root)


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


def _chunk(words: Sequence[Node]) -> Node:
    """A flat constituent: with branches in it "not all seats" would have "all seats", and "not" need no cover."""
    return words[0] if len(words) == 1 else Node(words[0].start, words[-1].end, "", tuple(words))


def _right_branching(parts: Sequence[Node]) -> Node:
    """The binary tree in which every part is followed by one constituent of all that comes behind."""
    tree = parts[-1]
    for part in reversed(parts[:-1]):
        tree = Node(part.start, tree.end, "", (part, tree))
    return tree
