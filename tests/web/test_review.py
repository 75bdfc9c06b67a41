"""The review queue: what is asked of whom, one answer a form, what was just answered, and taking it back."""

import contextlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from html import unescape

import pytest
from aiohttp.test_utils import TestClient

from schemas import Label
from tests.support.page import SAMPLES, PageStore, asked, opened, sample
from web.review import NotSent

FROM_HERE = {"Sec-Fetch-Site": "same-origin"}


class Topic:
    """Takes labels as a broker does, or does not."""

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self.fault: str | None = None

    async def away(self) -> str | None:
        return None

    async def send(self, label: Label) -> None:
        if self.fault is not None:
            raise NotSent(self.fault)
        self.labels.append(label)


FIRST, SECOND = (sample(of) for of in ("sup-02", "trv-03"))


@pytest.fixture
def store(samples: PageStore) -> PageStore:
    """Two open requests, the first one about an output that was rejected."""
    samples.keep_message(asked(FIRST, 1), asked(SECOND, 2))
    return samples


@contextlib.asynccontextmanager
async def queue(store: PageStore, *, by: str | None = "ada", topic: Topic | None = None) -> AsyncIterator[TestClient]:
    async with opened(store, labels=topic or Topic()) as client:
        if by is not None:
            await post(client, "/review/name", name=by)
        yield client


async def post(client: TestClient, path: str, *, status: int = 303, **fields: str) -> str:
    """Send a form; the address that it leads to, or the words of the answer."""
    answer = await client.post(path, data=fields, headers=FROM_HERE, allow_redirects=False)
    assert answer.status == status, await answer.text()
    return answer.headers["Location"] if status == 303 else words(await answer.text())


async def shown(client: TestClient, path: str = "/review", status: int = 200) -> str:
    answer = await client.get(path)
    assert answer.status == status
    return await answer.text()


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def about(html: str) -> str | None:
    """The verdict that a page asks about."""
    form = re.search(r'<form method="post" action="/review" .*?</form>', html, re.DOTALL)
    found = form and re.search(r'name="verdict" value="([^"]+)"', form[0])
    return found[1] if found else None


async def test_whoever_answers_is_asked_for_a_name_once(store):
    async with queue(store, by=None) as client:
        assert "Who answers?" in await shown(client)
        assert await post(client, "/review", verdict=FIRST["id"], said="good") == "/review"
        assert "1 to 256 characters" in await post(client, "/review/name", name=" ", status=400)
        answer = await client.post("/review/name", data={"name": "Zoë <b>"}, headers=FROM_HERE, allow_redirects=False)
        assert {"HttpOnly", "SameSite=Strict"} <= set(answer.headers["Set-Cookie"].split("; "))
        html = await shown(client)
    assert "Answering as Zoë <b> ." in words(html)
    assert "as <b>" not in html


async def test_the_output_comes_before_what_the_judge_says_of_it(store):
    async with queue(store) as client:
        html = await shown(client)
    before, found, after = html.partition("<details")
    assert found
    record = next(one["record"] for one in SAMPLES if one["record"]["id"] == "sup-02")
    for text in (record["response"], record["prompt"], *record["contexts"]):
        assert text in unescape(before)
    assert "rejected" not in before
    assert FIRST["reason"] not in unescape(before)
    assert "rejected" in after
    assert "What was tested" in after
    assert 'class="fault" id="sentence-' in after
    assert "2 waiting" in words(html)


@pytest.mark.parametrize("one", SAMPLES, ids=lambda one: f"{one['verdict']['checker']}-{one['verdict']['record_id']}")
async def test_every_kind_of_output_can_be_judged(samples, one):
    verdict = one["verdict"]
    samples.keep_message(asked(verdict | {"outcome": "accept"}, 1))
    async with queue(samples) as client:
        html = await shown(client)
    before = unescape(html.partition("<details")[0])
    for name in ("response", "sentence1", "text", "query", "answer", "question"):
        if isinstance(value := one["record"].get(name), str):
            assert value in before
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert not set(re.findall(r'href="#([^"]+)"', html)) - set(ids)


async def test_an_answer_is_sent_before_the_next_one_is_asked_and_is_not_asked_again(store):
    topic = Topic()
    async with queue(store, topic=topic) as client:
        assert about(await shown(client)) == FIRST["id"]
        assert await post(client, "/review", verdict=FIRST["id"], said="bad", note=" wrong day ") == "/review"
        (sent,) = topic.labels
        html = await shown(client)
        assert about(html) == SECOND["id"]
        assert f"Last answer: bad for {FIRST['id']} : wrong day" in words(html)
        # Nothing is in the store yet, and afterwards it is the same.
        store.keep_message(sent)
        assert about(await shown(client)) == SECOND["id"]
        await post(client, "/review", verdict=SECOND["id"], said="unsure")
        assert "Nothing to review" in await shown(client)
    assert (sent.verdict_id, sent.source, sent.model) == (FIRST["id"], FIRST["source"], FIRST["model"])
    assert (sent.annotator, sent.label, sent.note) == ("ada", "bad", "wrong day")
    assert (sent.kind, sent.rubric_version, sent.withdrawn) == ("expert", "1", False)
    assert [each.label for each in topic.labels] == ["bad", "unsure"]


@pytest.mark.parametrize("kept", [False, True], ids=["at once", "when it is kept"])
async def test_the_last_answer_is_taken_back_and_the_output_shown_again(store, kept):
    topic = Topic()
    async with queue(store, topic=topic) as client:
        for one in (FIRST, SECOND):
            await post(client, "/review", verdict=one["id"], said="good")
        if kept:
            store.keep_message(*topic.labels)
        assert f"Last answer: good for {SECOND['id']}" in words(await shown(client))
        place = await post(client, "/review/undo", verdict=SECOND["id"])
        assert place == f"/review/{SECOND['id']}"
        html = await shown(client, place)
        assert about(html) == SECOND["id"]
        assert "You took back your answer" in words(html)
        assert f"Last answer: good for {FIRST['id']}" in words(html)
        # Pressed twice it takes back nothing else.
        await post(client, "/review/undo", verdict=SECOND["id"])
        assert len(topic.labels) == 3
        if kept:
            store.keep_message(topic.labels[-1])
            assert about(await shown(client)) == SECOND["id"]
        await post(client, "/review", verdict=SECOND["id"], said="bad")
    (given, back, again) = [each for each in topic.labels if each.verdict_id == SECOND["id"]]
    assert (given.withdrawn, back.withdrawn, again.withdrawn) == (False, True, False)
    assert given.rank < back.rank < again.rank


async def test_what_is_skipped_comes_again_at_the_end(store):
    async with queue(store) as client:
        html = await shown(client)
        skip = unescape(re.search(r'href="(/review\?after=[^"]+)"', html)[1])
        html = await shown(client, skip)
        assert about(html) == SECOND["id"]
        after = unescape(re.search(r'name="after" value="([^"]+)"', html)[1])
        place = await post(client, "/review", verdict=SECOND["id"], said="good", after=after)
        assert place == skip
        assert "Nothing left after what you skipped" in await shown(client, place)
        assert about(await shown(client)) == FIRST["id"]


async def test_the_queue_of_one_application_stays_that(store):
    topic, source = Topic(), SECOND["source"]
    async with queue(store, by=None, topic=topic) as client:
        assert f'name="source" value="{source}"' in await shown(client, f"/review?source={source}")
        place = await post(client, "/review/name", name="ada", source=source)
        html = await shown(client, place)
        assert about(html) == SECOND["id"]
        assert "1 waiting" in words(html)
        place = await post(client, "/review", verdict=SECOND["id"], said="good", source=source)
        assert place == f"/review?source={source}"
        assert f"Only {source} is shown." in words(await shown(client, place))
        place = await post(client, "/review/undo", verdict=SECOND["id"], source=source)
        html = await shown(client, place)
        assert f'name="source" value="{source}"' in html
        assert about(html) == SECOND["id"]


async def test_what_the_broker_does_not_take_is_not_said_to_be_answered(store):
    topic = Topic()
    async with queue(store, topic=topic) as client:
        topic.fault = "no broker acknowledged the answer"
        told = await post(client, "/review", verdict=FIRST["id"], said="good", status=503)
        assert "no broker acknowledged the answer; answer again" in told
        assert about(await shown(client)) == FIRST["id"]


async def test_without_kafka_the_queue_can_be_read_and_not_answered(store):
    async with opened(store) as client:
        await post(client, "/review/name", name="ada")
        html = await shown(client)
        assert about(html) is None
        assert "Answers cannot be sent. Their topic cannot be reached" in words(html)
        assert "no Kafka is configured" in await post(client, "/review", verdict=FIRST["id"], said="good", status=503)


@pytest.mark.parametrize(
    ("path", "fields", "status", "said"),
    [
        ("/review", {"said": "fine"}, 400, "the answer is 'fine'; allowed are good, bad, unsure"),
        ("/review", {"verdict": "ver-none"}, 404, "nobody is asked about this verdict"),
        ("/review", {"note": "\x07"}, 400, "the note: control character U+0007"),
        ("/review", {"verdict": "old"}, 400, "the request expired at"),
        ("/review/undo", {"verdict": "ver-none"}, 404, "nobody is asked about this verdict"),
    ],
)
async def test_a_wrong_answer_is_told_what_is_wrong(store, path, fields, status, said):
    store.keep([FIRST | {"id": "old"}])
    store.keep_message(asked(FIRST | {"id": "old"}, 3, expires_at=datetime.now(UTC)))
    topic = Topic()
    async with queue(store, topic=topic) as client:
        assert said in await post(client, path, status=status, **{"verdict": FIRST["id"], "said": "good"} | fields)
        assert "The request expired at" in words(await shown(client, "/review/old"))
    assert topic.labels == []


async def test_no_other_page_may_answer(store):
    topic = Topic()
    async with queue(store, topic=topic) as client:
        fields = {"verdict": FIRST["id"], "said": "good"}
        for path in ("/review", "/review/undo", "/review/name"):
            answer = await client.post(path, data=fields, headers={"Sec-Fetch-Site": "cross-site"})
            assert answer.status == 403
    assert topic.labels == []
