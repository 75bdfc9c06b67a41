"""How a method's command ends when its run cannot be carried out."""

import click
import pytest

from assay.cli.common import CannotRun, NotFinished, WrongUse, run_errors
from checkers.model_patience import ModelLost
from models.protocol import ModelFailed, ModelUnavailable


class _Mistake(Exception):
    pass


def _end(error: Exception, *, resumable: bool = False) -> None:
    with run_errors(_Mistake, resumable=resumable):
        raise error


@pytest.mark.parametrize(
    ("error", "ending", "said"),
    [
        (CannotRun("no rule"), WrongUse, "no rule"),
        (_Mistake("bad line"), WrongUse, "bad line"),
        (ModelLost("a model is away"), NotFinished, "a model is away"),
        (ModelUnavailable("no route", retry_after=1), NotFinished, "a model cannot be reached: no route"),
        (ModelFailed("no answer", cause="judge_failed"), NotFinished, "no answer"),
        (OSError(28, "No space left"), NotFinished, "reading or writing failed: No space left"),
        (TimeoutError(), NotFinished, "reading or writing failed: TimeoutError"),
        (OSError(2, "No such file", "a.txt"), NotFinished, "a.txt: reading or writing failed: No such file"),
    ],
)
def test_an_error_ends_the_run_with_its_message_and_status(
    error: Exception, ending: type[click.ClickException], said: str
) -> None:
    with pytest.raises(ending) as ended:
        _end(error)
    assert ended.value.message == said


def test_a_run_that_keeps_what_is_done_says_so_when_a_model_is_lost() -> None:
    with pytest.raises(NotFinished, match="a model is away; results so far are kept"):
        _end(ModelLost("a model is away"), resumable=True)


@pytest.mark.parametrize("error", [BrokenPipeError(), RuntimeError("a fault of ours")])
def test_what_is_not_for_the_user_is_passed_on(error: Exception) -> None:
    with pytest.raises(type(error)):
        _end(error)
