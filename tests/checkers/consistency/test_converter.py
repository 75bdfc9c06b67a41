"""Reading marks off fixed opening words."""

import pytest

from checkers.consistency.converter import mark_of_opening


@pytest.mark.parametrize(
    ("reason", "mark"),
    [
        ("This sentence is consistent with the article: it states the vote.", 1),
        ("this summary is consistent with the article.", 1),
        ("This sentence is not consistent with the passages. The day is Thursday.", -1),
        ("This sentence is not consistent with the true answer, but it is close.", -1),
        ("This sentence is consistent with the article, but the year is not.", None),
        ("This sentence is consistent with the article except for the name.", None),
        ("The sentence agrees with the article.", None),
        ("It says: This sentence is consistent with the article.", None),
        ("This sentence is consistent with the reader's wishes.", None),
        ("", None),
    ],
)
def test_only_openings_beyond_doubt_are_read(reason: str, mark: int | None) -> None:
    assert mark_of_opening(reason) == mark
