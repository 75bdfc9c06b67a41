import pytest

from checkers.oracle.local import EmbeddingJudge, LocalSettings


@pytest.fixture(scope="session")
def judge() -> EmbeddingJudge:
    judge = EmbeddingJudge(LocalSettings())
    judge.load()
    return judge
