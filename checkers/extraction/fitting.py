"""The rules by which a name may stand in an entity's place: its shape, and no word of the text (paper, table 6)."""

from checkers.extraction.articles import indefinite_article
from checkers.extraction.mentions import LEADING_ARTICLE, POSSESSIVE_ENDING, is_initials, words_of

LONGEST = 100
"""Characters of a name."""

_JOINTS = frozenset(',;:/|()[]{}"“”\n')
_MARKS = ' \t\n"“”*_`'


def in_form_of(candidate: str, entity: str, *, named: bool) -> str:
    """The candidate as it would stand in the entity's place: with its article, possessive ending and capital."""
    made = LEADING_ARTICLE.sub("", " ".join(candidate.split()).strip(_MARKS))
    if not entity.endswith("."):
        made = made.removesuffix(".") if made.count(".") == 1 and " " not in made else made
    if not named and made[1:] == made[1:].lower():
        is_capital = LEADING_ARTICLE.sub("", entity)[:1].isupper()
        made = (made[:1].upper() if is_capital else made[:1].lower()) + made[1:]
    article = LEADING_ARTICLE.match(entity)
    ending = POSSESSIVE_ENDING.search(entity)
    if ending and made:
        made += "'" if made[-1] in "sS" else "'s"
    if article is None or not made:
        return made
    if article[0].lower().startswith("the"):
        return f"{article[0]}{made}"
    wanted = indefinite_article(made)
    return f"{wanted.capitalize() if article[0][0].isupper() else wanted} {made}"


def fits(candidate: str, entity: str, *, text: str, taken: frozenset[str]) -> bool:
    """True if the candidate may replace the entity of a text.

    It has the entity's shape, is no list and no explanation, no part or abbreviation of the entity, and none of its
    words is among `taken`, those of the text, of its entities and of what replaces them. A date or figure may
    keep words of its own: another day of the same month.
    """
    own, words = words_of(entity), words_of(candidate)
    if not words or len(candidate) > LONGEST or set(candidate) & _JOINTS - set(entity):
        return False
    if candidate.casefold() in text.casefold() or is_like(candidate, entity) is None:
        return False
    if has_digit(entity):
        return words != own and not words & (taken - own)
    return not words & taken and not is_initials(candidate, entity) and not is_initials(entity, candidate)


def is_like(candidate: str, entity: str) -> int | None:
    """By how many words the candidate differs from the entity in length; None if it has another shape.

    A name takes the place of a name, what has no capital that of what has none, and figures stand where figures stood.
    """
    shape, own = _shape(candidate), _shape(entity)
    if "0" in shape or "0" in own:
        return 0 if shape == own else None
    apart = abs(len(shape) - len(own))
    return apart if apart <= 1 and ("A" in shape) == ("A" in own) else None


def is_name(entity: str) -> bool:
    """True for what has a capital or a digit, and in a script without capitals."""
    return has_digit(entity) or entity != entity.lower() or entity == entity.upper()


def has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _shape(text: str) -> list[str]:
    """For each word if it has a digit, a capital or neither."""
    return ["0" if has_digit(word) else "A" if word != word.lower() else "a" for word in text.split()]
