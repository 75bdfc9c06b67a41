import pytest

from models.local.judge import BundledJudge


@pytest.fixture(scope="session")
def judge() -> BundledJudge:
    judge = BundledJudge()
    judge.load()
    return judge
