"""Claims of checkers from other packages, which give a kind by its value."""

import pytest

from models.claims import ClaimKind, Claims


def test_the_value_of_a_kind_stands_for_it() -> None:
    assert Claims("r", ("s",), "summary").kind is ClaimKind.SUMMARY  # type: ignore[arg-type]


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="'summery' is not a valid ClaimKind"):
        Claims("r", ("s",), "summery")  # type: ignore[arg-type]
