"""Looking words up: base forms, what they share a meaning with, what they are the opposite or a kind of."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Literal, TypeVar

from models.text.closed_class import CLOSED_CLASS
from models.text.morphology import detach
from models.text.packed import PARTS_OF_SPEECH, Packed, PackedSynset, Pos, Sense

WordRelation = Literal["same", "synonym", "antonym", "narrower", "broader", "derived"]

Found = TypeVar("Found")

_DATA = Path(__file__).parent / "data" / "wordnet-3.1.xz"

# From dog to animal it is seven steps by way of vertebrates; beyond, all things are objects.
_MOST_STEPS = 7

# Words kept in mind. A record has hundreds, a vocabulary tens of thousands: some 20 MB at most.
_KEPT = 20_000

# Letters of the longest word that is kept in mind: nothing else bounds what a text without spaces would fill it with.
_LONGEST_KEPT = 64


@dataclass(frozen=True, slots=True)
class _Entry:
    """The words that a word is related to, each by its base form."""

    lemmas: frozenset[str]
    synonyms: frozenset[str]
    antonyms: frozenset[str]
    derived: frozenset[str]


class Lexicon:
    """English words, one part or hyphenated, in any inflection and case. Answers are base forms in lower case.

    Nothing but caches changes after loading: safe to be shared between threads.
    """

    def __init__(self, path: Path = _DATA) -> None:
        """Load a compiled lexicon.

        Raises:
            ValueError: the file is not one.
        """
        self._packed = Packed(path)
        self._senses = _kept(self._packed.senses)
        self._synset = lru_cache(maxsize=_KEPT)(self._packed.synset)
        self._analysed = _kept(self._analyse)
        self._entry = _kept(self._look_up)

    @property
    def tagging(self) -> str:
        """The fields of the tagger's `TaggerModel`, in JSON."""
        return self._packed.tagging

    def knows(self, word: str) -> bool:
        """True if the word is in the lexicon, in any inflection."""
        return bool(self._analysed(word.lower()))

    def analyses(self, word: str) -> tuple[tuple[str, Pos, str | None], ...]:
        """What the word may be: base form, part of speech, and tag (Penn Treebank) if it is inflected."""
        return self._analysed(word.lower())

    def lemmas(self, word: str, pos: Pos | None = None) -> frozenset[str]:
        """Base forms that the word may belong to (saw: see, saw); none if it is not known."""
        return frozenset(base for base, part, _ in self._analysed(word.lower()) if pos in (None, part))

    def senses(self, word: str) -> Mapping[Pos, int]:
        """How often sense-tagged text has the word's base forms, by the parts of speech that it has."""
        counts: dict[Pos, int] = {}
        for base, pos in dict.fromkeys((base, pos) for base, pos, _ in self._analysed(word.lower())):
            counts[pos] = counts.get(pos, 0) + sum(sense.count for sense in self._senses(base) if sense.pos == pos)
        return counts

    def written(self, word: str) -> str:
        """The word as it is spelt: with its capital if it has one in every meaning (Monday), else in lower case."""
        lower = word.lower()
        spellings = {
            written for sense in self._senses(lower) for written in self._words(sense) if written.lower() == lower
        }
        return min(spellings) if spellings and lower not in spellings else lower

    def synonyms(self, word: str, pos: Pos | None = None) -> frozenset[str]:
        """Other words that share one of its meanings."""
        found = {other.lower() for sense in self._all(word, pos) for other in self._words(sense)}
        return frozenset(found - self.lemmas(word, pos))

    def opposites(self, word: str, pos: Pos | None = None) -> frozenset[str]:
        """What the word itself is the opposite of, commonest meaning or not (dry: wet, sweet)."""
        return frozenset(other for sense in self._all(word, pos) for other in sense.antonyms)

    def frames(self, verb: str) -> frozenset[int]:
        """What the verb stands with in its commonest meaning, as numbers of WordNet's sentence frames (wninput(5))."""
        return frozenset(number for sense in islice(self._all(verb, "v"), 1) for number in sense.frames)

    def antonyms(self, word: str, pos: Pos | None = None) -> frozenset[str]:
        """Opposites: its own, and for an adjective those of the adjectives that it is similar to (moist: wet: dry)."""
        found = set(self.opposites(word, pos))
        for sense in self._all(word, pos):
            for number in self._synset(sense.synset).similar:
                for head in self._synset(number).words:
                    found.update(
                        opposite
                        for other in self._senses(head.lower())
                        if other.synset == number
                        for opposite in other.antonyms
                    )
        return frozenset(found)

    def is_a(self, narrow: str, broad: str, pos: Pos | None = None) -> bool:
        """True if one is a kind, or an instance, of the other in any of their meanings, at most seven steps above."""
        return self._leads_to({sense.synset for sense in self._all(narrow, pos)}, broad, pos)

    def is_mainly(self, narrow: str, broad: str, pos: Pos | None = None) -> bool:
        """As `is_a`, but of the commonest meaning of `narrow` alone."""
        return self._leads_to({sense.synset for sense in islice(self._all(narrow, pos), 1)}, broad, pos)

    def derived(self, word: str) -> frozenset[str]:
        """Words of the same root and another part of speech or meaning: decide, decision; quickly, quick."""
        return frozenset(other for sense in self._all(word, None) for other in sense.derived)

    def siblings(self, word: str, pos: Pos) -> tuple[str, ...]:
        """Other kinds of what the word, in its commonest meaning, is a kind of; commonest first.

        Where nothing of one part is, kinds of the next of kin (cat: feline: carnivore: dog). Single things have
        single things beside them (Paris, Rome). Adjectives and adverbs are no kinds of anything: none.
        """
        own = self.lemmas(word, pos) | self.synonyms(word, pos)
        for sense in islice(self._all(word, pos), 1):
            for near in self._kin(self._synset(sense.synset)):
                found: dict[str, int] = {}
                for number in near:
                    for other, count in self._counts(number):
                        found[other] = max(found.get(other, 0), count)
                others = [other for other in found if other not in own]
                if others:
                    return tuple(sorted(others, key=lambda other: (-found[other], other)))
        return ()

    def spelling(self, word: str) -> str:
        """The word with its capitals if it has any in some meaning (Turin, NASA), else as `written`."""
        lower = word.lower()
        spellings = [other for sense in self._senses(lower) for other in self._words(sense) if other.lower() == lower]
        return next((spelt for spelt in spellings if not spelt.islower()), self.written(word))

    def relation(self, one: str, other: str) -> WordRelation | None:
        """How two words are related, the closest way there is; `narrower`: `one` is a kind of `other`."""
        close = self.close_relation(one, other)
        if close is not None:
            return close
        if self.is_a(one, other):
            return "narrower"
        return "broader" if self.is_a(other, one) else None

    def close_relation(self, one: str, other: str) -> WordRelation | None:
        """The relation of two words if it is not just that one is a kind of the other, which takes longer to find."""
        mine, theirs = self._entry(one.lower()), self._entry(other.lower())
        if one.lower() == other.lower() or mine.lemmas & theirs.lemmas:
            return "same"
        # Before synonyms: opposites share a meaning now and then (borrow, lend of money).
        if theirs.lemmas & mine.antonyms or mine.lemmas & theirs.antonyms:
            return "antonym"
        if theirs.lemmas & mine.synonyms:
            return "synonym"
        return "derived" if theirs.lemmas & mine.derived or mine.lemmas & theirs.derived else None

    def _leads_to(self, seen: set[int], broad: str, pos: Pos | None) -> bool:
        wanted = {sense.synset for sense in self._all(broad, pos)}
        level = seen
        for _ in range(_MOST_STEPS):
            level = {above for number in level for above in self._above(number)} - seen
            if level & wanted:
                return True
            seen = seen | level
        return False

    def _look_up(self, word: str) -> "_Entry":
        return _Entry(self.lemmas(word), self.synonyms(word), self.antonyms(word), self.derived(word))

    def _all(self, word: str, pos: Pos | None) -> Iterator[Sense]:
        for base, part in dict.fromkeys((base, part) for base, part, _ in self._analysed(word.lower())):
            if pos in (None, part):
                yield from (sense for sense in self._senses(base) if sense.pos == part)

    def _words(self, sense: Sense) -> tuple[str, ...]:
        return self._synset(sense.synset).words

    def _above(self, number: int) -> tuple[int, ...]:
        synset = self._synset(number)
        return synset.hypernyms + synset.classes

    def _kin(self, synset: PackedSynset) -> Iterator[set[int]]:
        parents = [self._synset(number) for number in synset.hypernyms]
        classes = [self._synset(number) for number in synset.classes]
        yield {*chain.from_iterable(parent.hyponyms for parent in parents)} | {
            *chain.from_iterable(one.instances for one in classes)
        }
        beside = {
            number
            for parent in parents
            for above in parent.hypernyms
            for number in self._synset(above).hyponyms
            if number not in synset.hypernyms
        }
        yield beside | {*chain.from_iterable(self._synset(number).hyponyms for number in beside)}

    def _counts(self, number: int) -> Iterator[tuple[str, int]]:
        """The words of a synset, and how common each one is in its meaning."""
        for word in self._synset(number).words:
            lower = word.lower()
            yield lower, next((sense.count for sense in self._senses(lower) if sense.synset == number), 0)

    def _analyse(self, word: str) -> tuple[tuple[str, Pos, str | None], ...]:
        own = {sense.pos for sense in self._senses(word)}
        found: list[tuple[str, Pos, str | None]] = [(word, pos, None) for pos in PARTS_OF_SPEECH if pos in own]
        irregular = self._packed.forms(word)
        found.extend((form.base, form.pos, form.tag) for form in irregular)
        # No rule is right for the words of grammar: "has" is not the plural of "ha".
        if word not in CLOSED_CLASS:
            for pos in PARTS_OF_SPEECH:
                if not any(form.pos == pos and form.base != word for form in irregular):
                    found.extend((base, pos, tag) for base, tag in detach(word, pos, self._has(pos)))
        return tuple(dict.fromkeys(found))

    def _has(self, pos: Pos) -> Callable[[str], bool]:
        return lambda base: any(sense.pos == pos for sense in self._senses(base))


def _kept(find: Callable[[str], Found]) -> Callable[[str], Found]:
    kept = lru_cache(maxsize=_KEPT)(find)
    return lambda word: kept(word) if len(word) <= _LONGEST_KEPT else find(word)


@cache
def lexicon() -> Lexicon:
    """The lexicon that comes with the package, loaded at first use."""
    return Lexicon()
