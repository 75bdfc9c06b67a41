"""What is recorded can be replayed without an endpoint."""

import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from models.build import build_model
from models.meter import Journal
from models.protocol import Model, ModelUnavailable
from models.settings import JudgeSettings
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


def replaying(path: Path, **settings: Any) -> Model:
    return build_model(JudgeSettings(backend="replay", recording=path, **settings))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "made" / "recording.jsonl"


async def test_a_recorded_answer_is_replayed(model_of: MakeModel, stub: StubEndpoint, file: Path):
    recorded = await model_of(recording=file).ask(question())
    stub.down()

    model = replaying(file)
    replayed = await model.ask(question())

    assert replayed.reply == recorded.reply
    assert model.name == "openai/m"
    assert (replayed.usage.calls, replayed.usage.cached, replayed.usage.cost) == (0, 1, 0)


async def test_every_exchange_is_recorded_with_what_came_back(model_of: MakeModel, stub: StubEndpoint, file: Path):
    stub.play([stubs.status(500, "out of order"), stubs.close(), stubs.nonsense()])

    await model_of(recording=file, max_attempts=5).ask(question())

    exchanges = [line for line in lines(file) if line["type"] == "exchange"]
    assert [line["status"] for line in exchanges] == [500, None, 200, 200]
    assert exchanges[1]["error"].startswith("the connection broke")
    assert "sorry" in exchanges[2]["response"]
    assert exchanges[0]["request"]["messages"][0] == {"role": "system", "content": "Compare."}
    assert {line["digest"] for line in lines(file)} == {exchanges[0]["digest"]}
    assert all(line["at"].endswith("Z") for line in exchanges)


async def test_the_key_is_in_no_recording(model_of: MakeModel, stub: StubEndpoint, file: Path):
    stub.play([stubs.status(500, "wrong key sk-very-secret"), stubs.status(401, "wrong key sk-very-secret")])
    with pytest.raises(ModelUnavailable, match=r"wrong key \[key\]"):
        await model_of(recording=file).ask(question())

    recorded = json.dumps(lines(file))
    assert "wrong key [key]" in recorded
    assert "sk-very-secret" not in recorded


async def test_a_torn_last_line_is_passed_over_and_closed_by_the_next(
    model_of: MakeModel, stub: StubEndpoint, file: Path
):
    await model_of(recording=file).ask(question("First."))
    with file.open("ab") as torn:
        torn.write(b'{"type": "answer", "dig')
    assert (await replaying(file).ask(question("First."))).reply

    await model_of(recording=file).ask(question("Second."))

    assert (await replaying(file).ask(question("Second."))).reply


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "cannot be read"),
        (b"", "holds no answers"),
        (b'{"type": "answer", "judge": "a"}\n', "1: not a line of a recording"),
        (
            b'{"type": "answer", "judge": "a", "digest": "1"}\n{"type": "answer", "judge": "b", "digest": "1"}\n',
            "2: of b, and others are of a",
        ),
    ],
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, content: bytes | None, fault: str):
    path = tmp_path / "file.jsonl"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ValueError, match=fault):
        replaying(path)


def test_a_file_that_cannot_be_written_is_logged_once_and_stops_nothing(tmp_path: Path):
    journal = Journal(tmp_path)
    with capture_logs() as logged:
        journal.write({"type": "answer"})
        journal.write({"type": "answer"})

    assert [line["event"] for line in logged] == ["recording_failed"]
