"""Cutting a sentence into base phrases: noun phrases up to their head, adverbs, adjectives; the rest word by word."""

from collections.abc import Sequence

from checkers.equivalence.parsers.embedded.base_nouns import noun_chunk
from checkers.equivalence.parsers.embedded.chunks import Chunk, Part, lower_at, tag_at
from checkers.equivalence.parsers.embedded.words import ADJECTIVES, ADVERBS, NOUNS, VERBS, Word

_MARKS = {",": ",", ".": ".", ":": ":", "-LRB-": "(", "-RRB-": ")"}
"""Kinds of marks by their tags."""
_COMPOUND = frozenset({("because", "of"), ("such", "as"), ("as", "for"), ("as", "to"), ("as", "of")})
"""Prepositions of two words."""
_JOINED = frozenset({("as", "well", "as")})
"""Conjunctions of three."""


def chunked(words: Sequence[Word]) -> list[Chunk]:
    """The chunks of a sentence, in order."""
    found: list[Chunk] = []
    place = 0
    while place < len(words):
        chunk, place = _joining(words, place) or noun_chunk(words, place) or _single(words, place)
        found.append(chunk)
    return found


def _joining(words: Sequence[Word], at: int) -> tuple[Chunk, int] | None:
    """A conjunction or preposition of several words."""
    pair = lower_at(words, at), lower_at(words, at + 1)
    if (*pair, lower_at(words, at + 2)) in _JOINED:
        return Chunk("CC", Part("CONJP", list(range(at, at + 3))), at), at + 3
    return (Chunk("P", Part("", [at, at + 1]), at), at + 2) if pair in _COMPOUND else None


def _single(words: Sequence[Word], at: int) -> tuple[Chunk, int]:
    """What is no noun phrase."""
    tag = words[at].tag
    if tag in ADVERBS | ADJECTIVES:
        return _describing(words, at)
    if tag in {"WDT", "WP", "WP$", "WRB"}:
        return _question_word(words, at)
    if tag in VERBS:
        kind = "V"
    elif tag == "TO":
        kind = "TO" if _is_infinitive(words, at) else "P"
    elif tag == "IN":
        kind = "P"
    else:
        kind = tag if tag in {"CC", "RP"} else _MARKS.get(tag, "X")
    return Chunk(kind, at, at), at + 1


def _is_infinitive(words: Sequence[Word], at: int) -> bool:
    place = at + 1
    while tag_at(words, place) in ADVERBS:
        place += 1
    return tag_at(words, place) in {"VB", "VBP"}


def _describing(words: Sequence[Word], at: int) -> tuple[Chunk, int]:
    """Adverbs, or adjectives with theirs that no noun follows."""
    place = at
    while tag_at(words, place) in ADVERBS:
        place += 1
    end = place
    while tag_at(words, end) in ADJECTIVES:
        end += 1
    label = "ADVP" if end == place else "ADJP"
    return Chunk(label, Part(label, list(range(at, end))), end - 1), end


def _question_word(words: Sequence[Word], at: int) -> tuple[Chunk, int]:
    """With its noun or adjective: whose car, how many."""
    word, after = words[at], tag_at(words, at + 1)
    if word.lower == "how" and after in ADVERBS | ADJECTIVES:
        return Chunk("W", Part("WHADJP", [at, at + 1]), at), at + 2
    if (word.tag == "WP$" or word.lower in {"which", "what"}) and after in NOUNS | ADJECTIVES:
        noun = noun_chunk(words, at + 1)
        if noun is not None and isinstance(noun[0].part, Part):
            return Chunk("W", Part("WHNP", [at, *noun[0].part.children]), at), noun[1]
    return Chunk("W", Part("WHADVP" if word.tag == "WRB" else "WHNP", [at]), at), at + 1
