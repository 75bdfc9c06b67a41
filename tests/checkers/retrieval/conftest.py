"""What the tests of the retrieval checker share."""

import pytest


@pytest.fixture(scope="session")
def imported_library() -> None:
    """The cross-encoders' library is there: on a busy machine its import alone may outlast a question's patience."""
    import sentence_transformers  # noqa: F401
