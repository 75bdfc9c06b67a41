import pytest

from checkers.oracle.local import EmbeddingJudge, LocalSettings


@pytest.fixture(scope="session")
def judge() -> EmbeddingJudge:
    pytest.importorskip("sentence_transformers", reason="the local judge needs the extra 'local'")
    judge = EmbeddingJudge(LocalSettings())
    judge.load()
    return judge
