"""Names of days and months."""

_WEEKDAYS = ("monday", "tuesday tues", "wednesday", "thursday thurs", "friday", "saturday", "sunday")
_MONTHS = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)

WEEKDAYS = {name: day for day, names in enumerate(_WEEKDAYS) for name in names.split()}
"""Names and short forms of the days of the week, in lower case, from 0 for Monday."""

MONTHS = {name: month for month, names in enumerate(_MONTHS, start=1) for name in names.split()}
"""Names and short forms of the months, in lower case, from 1 for January."""


def calendar_value(word: str, names: dict[str, int]) -> int | None:
    """The day or month that a word names; None if it has no capital, as "may" and "march" are words too."""
    return names.get(word.lower().removesuffix("'s").rstrip(".")) if word[0].isupper() else None
