"""`assay label`: what a person says reaches the topic as a label, of what was drawn for review alone."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schemas import Label, Origin, ReviewRequest, to_json
from tests.assay.running import assay, servers
from tests.support.labels import REQUEST
from tests.support.rejections import rejection
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.trust_verdicts import put_verdicts, read_all, verdict


def request(number: int, **more: Any) -> ReviewRequest:
    now = datetime.now(UTC)
    given: dict[str, Any] = {
        "id": f"req-{number}",
        "verdict_id": f"ver-{number}",
        "record_id": f"r{number}",
        "asked_at": now,
        "expires_at": now + timedelta(days=1),
    }
    return REQUEST.model_copy(update=given | more)


def asks(place: Place, *requests: ReviewRequest) -> None:
    topic = place.checked().topics.review_requests
    asyncio.run(put(place.servers, topic, map(to_json, requests)))


def labels(place: Place) -> list[tuple[bytes, Label]]:
    found = asyncio.run(read_all(place.servers, place.checked().topics.labels))
    return [(each.key, Label.model_validate_json(each.value)) for each in found]


def test_a_label_is_sent_to_where_its_request_came_from_and_is_not_asked_for_again(tmp_path, embedded_place: Place):
    expired = request(3, expires_at=datetime.now(UTC) - timedelta(days=1))
    asks(embedded_place, request(1), request(2, rubric_version="2"), expired)
    given = servers(embedded_place)
    ran = assay("label", "r2", "bad", "--note", "wrong day", "--annotator", "ada", cwd=tmp_path, **given)
    assert ran.returncode == 0, ran.stderr
    ((key, told),) = labels(embedded_place)
    assert key == b"shop\x1fm"
    assert (told.verdict_id, told.label, told.note, told.annotator) == ("ver-2", "bad", "wrong day", "ada")
    assert (told.rubric_version, told.kind) == ("2", "expert")
    of_ada = assay("label", "--annotator", "ada", cwd=tmp_path, **given)
    assert of_ada.stdout.splitlines()[0] == "ACCEPT   r1          0.90  shop / m  by fair"
    of_ben = assay("label", "--annotator", "ben", cwd=tmp_path, **given)
    assert "r2" not in of_ben.stdout, "one answer is asked for"


def test_the_list_shows_the_output_and_what_the_judge_found(tmp_path: Path, embedded_place: Place):
    topics = embedded_place.checked().topics
    origin = Origin(topic=topics.outputs, partition=0, offset=0)
    rejected = rejection(1, topics.outputs).model_copy(update={"origin": origin})
    about = {name: getattr(rejected, name) for name in ("source", "model", "checker", "record_id")}
    asyncio.run(put(embedded_place.servers, topics.outputs, [record(1, response="It arrives on Monday.")]))
    asyncio.run(put(embedded_place.servers, topics.rejected, [to_json(rejected)]))
    asks(embedded_place, request(1, verdict_id=rejected.id, outcome="reject", origin=origin, **about))
    ran = assay("label", cwd=tmp_path, **servers(embedded_place))
    assert "output: It arrives on Monday." in ran.stdout
    assert rejected.reason in ran.stdout
    assert "1 verdict to be labelled" in ran.stderr


def test_a_second_opinion_is_another_persons_and_what_is_taken_back_is_asked_for_again(tmp_path, embedded_place: Place):
    asks(embedded_place, request(1), request(1, id="req-1b", reason="second_opinion"))
    given = servers(embedded_place)

    def run(*arguments: str, status: int = 0) -> str:
        ran = assay("label", *arguments, cwd=tmp_path, **given)
        assert ran.returncode == status, ran.stderr
        return ran.stdout + ran.stderr

    run("ver-1", "bad", "--annotator", "ada")
    assert "0 verdicts to be labelled" in run("--annotator", "ada")
    assert "1 verdict to be labelled" in run("--annotator", "ben")
    assert "1 label taken back by ada" in run("ver-1", "--undo", "--annotator", "ada")
    assert "1 verdict to be labelled" in run("--annotator", "ada")
    assert "ada has not labelled it" in run("ver-1", "--undo", "--annotator", "ada", status=2)
    assert [(told.label, told.withdrawn) for _, told in labels(embedded_place)] == [("bad", False), ("bad", True)]


def test_a_file_labels_what_was_drawn_of_it(tmp_path: Path, embedded_place: Place):
    asks(embedded_place, request(1), request(2))
    lines = [{"source": "shop", "record_id": f"r{number}", "label": "good"} for number in (2, 9)]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = assay("label", "--from", "labels.jsonl", "--annotator", "ada", cwd=tmp_path, **servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    assert [told.verdict_id for _, told in labels(embedded_place)] == ["ver-2"]


def test_a_complaint_is_asked_about_by_name_and_has_no_probability(tmp_path, embedded_place: Place):
    about = verdict(7, accepted=True)
    asyncio.run(put_verdicts(embedded_place.servers, embedded_place.checked().topics, [about]))
    given = servers(embedded_place)
    ran = assay("label", about.record_id, "--ask", cwd=tmp_path, **given)
    assert (ran.returncode, ran.stderr) == (0, f"people are asked about {about.record_id}\n")
    topic = embedded_place.checked().topics.review_requests
    (sent,) = asyncio.run(read_all(embedded_place.servers, topic))
    asked = ReviewRequest.model_validate_json(sent.value)
    assert (asked.verdict_id, asked.reason, asked.inclusion_probability) == (about.id, "complaint", None)
    assert assay("label", about.id, "bad", "--annotator", "ada", cwd=tmp_path, **given).returncode == 0
    ((_, told),) = labels(embedded_place)
    assert (told.verdict_id, told.label) == (about.id, "bad")
    nobody = assay("label", "r99", "--ask", cwd=tmp_path, **given)
    assert nobody.returncode == 2
    assert "r99: no accept or reject with this id" in nobody.stderr
