"""A model behind an address that is no chat endpoint: data in, data out, and no prompt."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from models.build import build_model
from models.meter import MeteredModel
from models.protocol import ModelFailed, ModelUnavailable, Question
from models.settings import SubjectSettings
from tests.models.asking import question
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint


class Words(BaseModel):
    words: list[str]


def complaint(reply: Words) -> str | None:
    return None if reply.words else "there must be a word"


WORDS: Question[Words] = question(reply=Words, complaint=complaint, data={"text": "Ada moved."})


def split(request: Any) -> Act:
    """What the service does: the words of a text."""
    return Act(document={"words": request.body["text"].split()}) if request.body else stubs.status(400)


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(script=split) as endpoint:
        yield endpoint


Make = Callable[..., MeteredModel]


@pytest.fixture
async def service_of(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    built = []

    def build(**settings: Any) -> MeteredModel:
        monkeypatch.setattr("models.flow._ATTEMPTS", settings.pop("max_attempts", 4))
        given = {"backend": "service", "base_url": f"http://127.0.0.1:{stub.port}/extract", **settings}
        built.append(build_model(SubjectSettings.model_validate(given), section="subjects.ner"))
        return built[-1]

    yield build
    for model in built:
        await model.close()


async def test_it_is_sent_the_data_and_answers_in_the_form_asked_for(service_of: Make, stub: StubEndpoint):
    service = service_of(
        api_key="sk-very-secret", extra_headers={"x-tenant": "acme"}, extra_body={"language": "en"}, model="ner-2"
    )
    answer = await service.ask(WORDS)
    assert answer.reply == Words(words=["Ada", "moved."])
    assert answer.usage.calls == 1
    assert service.name == "service/ner-2"
    (request,) = stub.requests
    assert (request.method, request.path, request.body) == (
        "POST",
        "/extract",
        {"language": "en", "text": "Ada moved."},
    )
    assert request.headers["authorization"] == "Bearer sk-very-secret"
    assert request.headers["x-tenant"] == "acme"


async def test_a_question_in_words_is_none_for_it(service_of: Make, stub: StubEndpoint):
    with pytest.raises(ModelFailed, match=r"a service reads no prompts, and 'consistency\.summary'"):
        await service_of().ask(question())
    assert not stub.requests


@pytest.mark.parametrize(
    ("act", "cause", "detail"),
    [
        (Act(document=b"<html>"), "judge_unusable", "no JSON"),
        (Act(document={"words": "Ada"}), "judge_unusable", "no usable reply, words: "),
        (Act(document={"words": []}), "judge_unusable", "there must be a word"),
        (stubs.status(422, "Ada moved. is too long"), "judge_failed", "refused: status 422$"),
    ],
)
async def test_what_cannot_be_used_is_a_failure_that_says_where(
    act: Act, cause: str, detail: str, service_of: Make, stub: StubEndpoint
):
    stub.play(lambda request: act)
    with pytest.raises(ModelFailed, match=detail) as failure:
        await service_of().ask(WORDS)
    assert failure.value.cause == cause
    assert failure.value.usage.calls == 1


@pytest.mark.parametrize("gone", [True, False])
async def test_a_service_that_is_down_or_elsewhere_holds_the_record(gone: bool, service_of: Make, stub: StubEndpoint):
    if gone:
        stub.down()
    stub.play(lambda request: stubs.status(404))
    said = "cannot connect" if gone else r"status 404; check subjects\.ner\.base_url"
    with pytest.raises(ModelUnavailable, match=said) as failure:
        await service_of(max_attempts=1).ask(WORDS)
    assert failure.value.usage.calls == int(not gone)


@pytest.mark.parametrize("hung", [stubs.hang(), stubs.status(504)], ids=["itself", "its gateway gave up"])
async def test_one_that_hangs_on_a_text_but_is_there_fails_on_it_alone(hung: Act, service_of: Make, stub: StubEndpoint):
    stub.play(lambda request: hung if request.body else stubs.status(400))
    with pytest.raises(ModelFailed) as failure:
        await service_of(timeout_seconds=0.3, max_attempts=1).ask(WORDS)
    assert failure.value.cause == "judge_slow"
