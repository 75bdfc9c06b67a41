"""A verdict with its evidence, and a record with its verdicts."""

import json
import re
from html import unescape

import pytest

from schemas.base import BUNDLED_ACCURACY, BUNDLED_MODEL
from tests.support.page import ROWS, SAMPLES, improved, opened, sample, shown_on, text_of


@pytest.mark.parametrize("one", SAMPLES, ids=lambda one: f"{one['verdict']['checker']}-{one['verdict']['record_id']}")
async def test_every_verdict_says_first_what_was_tested_and_then_shows_it(samples, one):
    verdict = one["verdict"]
    async with opened(samples) as client:
        shown = await shown_on(client, f"/verdicts/{verdict['id']}")
    assert re.search("What was tested|Why it was not decided", shown)
    assert " ".join(verdict["reason"].split()) in shown
    for told in {
        "consistency": lambda e: [e["sentences"][0]["reason"]],
        "equivalence": lambda e: [pair["second"] for pair in e["proof"]["alignments"][0]["pairs"]],
        "extraction": lambda e: [e["rounds"][0]["x"]["vector"], e["entities"][0]["replacement"]],
        "labelling": lambda e: [str(e["runs"][0]["rounds"][0]["similar"]), e["runs"][0]["criteria"][0]],
        "retrieval": lambda e: [e["matched"]["text_to_query"]["passage"]],
        "probe": lambda e: [e["question"], f"Expected: {e['expected']}", f"number {e['template']}"],
        "tool_call": lambda e: [e["tool"], e["findings"][0]["reason"], e["faults"][1]],
        "abstention": lambda e: [e["cause"], e["detail"]],
        "criterion": lambda e: [e["ask"], e["quote"], "a yes rejects"],
    }[verdict["evidence"]["type"]](verdict["evidence"]):
        assert " ".join(told.split()) in shown


async def test_the_words_at_fault_of_a_criterion_are_marked_and_it_has_its_own_series(samples):
    verdict = sample("crit-01")
    async with opened(samples) as client:
        html = await text_of(client, f"/verdicts/{verdict['id']}")
        listed = await text_of(client, "/verdicts?checker=no_refunds&minutes=129600&until=2026-11-25")
    marked = re.search(r"I am sorry. You will get <mark class=\"fault\"[^>]*>(.*?)<sup>", html)
    assert marked[1] == verdict["evidence"]["quote"]
    assert "A broken lamp is repaired free of charge" in html
    assert ROWS.findall(listed) == [verdict["id"]]


async def test_earlier_turns_stand_beside_the_sentence_that_contradicts_one(empty):
    one = sample("sup-02")
    first, *others = one["evidence"]["sentences"]
    turns = [
        {"record_id": "sup-00", "prompt": "How long?", "response": "You have <b>30</b> days. It is free."},
        {"record_id": "sup-01", "prompt": None, "response": "We are open."},
    ]
    said = {"record_id": "sup-00", "sentence": "You have <b>30</b> days.", "support": 0.2}
    faulty = first | {"mark": -1, "contradicts": said, "reason": "it contradicts the answer sup-00"}
    evidence = one["evidence"] | {"earlier": turns, "sentences": [faulty, *others]}
    empty.keep([one | {"evidence": evidence}])
    async with opened(empty) as client:
        html, shown = await text_of(client, f"/verdicts/{one['id']}"), await shown_on(client, f"/verdicts/{one['id']}")
    assert "and with 2 earlier answers of its session, which it must not contradict" in shown
    assert "Said before in sup-00: You have <b>30</b> days." in shown
    assert "Said before in the session Answer 1: sup-00 Asked: How long?" in shown
    assert "Answer 2: sup-01 We are open." in shown
    marked = re.search(r'<mark class="fault" id="earlier-1" data-numbers="1">(.*?)</mark>', html, re.DOTALL)
    assert marked
    assert "You have &lt;b&gt;30&lt;/b&gt; days." in marked[1]
    assert 'href="#earlier-1"' in html


async def test_a_faulty_sentence_its_reason_and_its_passage_have_one_number(samples):
    verdict = sample("sup-09")
    async with opened(samples) as client:
        html = await text_of(client, f"/verdicts/{verdict['id']}")
    for number, one in enumerate(verdict["evidence"]["sentences"], start=1):
        mark = re.search(
            rf'<mark class="fault" id="sentence-{number}"[^>]*aria-describedby="reason-{number}">(.*?)<sup>', html
        )
        assert one["text"] in mark[1]
        assert one["reason"] in unescape(re.search(rf'id="reason-{number}">(.*?)</p>', html)[1])
        passage = re.search(rf'<mark class="fault" id="passage-{number}"[^>]*>(.*?)<sup>', html)
        assert one["passage"] in passage[1]


async def test_offsets_are_code_points_beyond_the_first_plane(empty):
    response = "😀🇳🇱 Grüße! The lamp costs 9 euros."
    start = response.index("The")
    finding = sample("sup-02")["evidence"]["sentences"][0]
    finding = finding | {"text": response[start:], "start": start, "end": len(response), "mark": -1}
    evidence = sample("sup-02")["evidence"] | {"sentences": [finding]}
    empty.keep([sample("sup-02", evidence=evidence)])
    empty.keep_record(source="support-bot", id="sup-02", response=response, contexts=[response])
    async with opened(empty) as client:
        html = await text_of(client, f"/verdicts/{sample('sup-02')['id']}")
    assert re.search(r'😀🇳🇱 Grüße! <mark[^>]*><a href="#reason-1"[^>]*>The lamp costs 9 euros\.</a>', html)


async def test_a_record_that_is_not_kept_is_read_back_or_quoted(empty):
    async def find(verdict):
        return json.dumps({"response": "You can return it.", "contexts": ["A lamp, read back."]}).encode()

    verdict = sample("sup-09")
    empty.keep([verdict])
    async with opened(empty) as alone, opened(empty, find_record=find) as client:
        quoted, shown = [await shown_on(one, f"/verdicts/{verdict['id']}") for one in (alone, client)]
    assert "Put together from the sentences" in quoted
    assert verdict["evidence"]["sentences"][1]["passage"] in quoted
    assert "store.records = true" in quoted
    assert "A lamp, read back." in shown
    assert "read back from its topic" in shown


async def test_a_record_has_all_its_verdicts_side_by_side(samples):
    samples.keep([sample("sup-02", id="ver-second", checker="politeness", outcome="accept", score=1.0)])
    async with opened(samples) as client:
        shown = await shown_on(client, "/records/support-bot/sup-02")
        beside = await shown_on(client, "/verdicts/ver-second")
    assert "rejected by consistency" in shown
    assert "accepted by politeness" in shown
    assert "Other verdicts on this record" in beside
    assert "All verdicts on sup-02, side by side" in beside


async def test_trace_and_tenant_are_told_and_names_in_an_address_may_have_any_character(empty):
    names = {"id": "ver-1", "source": "a/b & c?", "record_id": "x/ü#1%2F"}
    empty.keep([sample("sup-02", **names, tenant="north", trace={"trace_id": "ab" * 16})])
    async with opened(empty) as client:
        assert re.search(f"Tenant north .*Trace {'ab' * 16}", await shown_on(client, "/verdicts/ver-1"))
        html = await text_of(client, "/records/a%2Fb%20%26%20c%3F/x%2F%C3%BC%231%252F")
        assert "/verdicts/ver-1" in html
        assert "ver-1" in await text_of(client, "/verdicts?source=a%2Fb+%26+c%3F")


async def test_an_improvement_stands_beside_the_verdict(samples):
    samples.keep_message(improved(sample("sup-02")["id"]))
    async with opened(samples) as client:
        shown = await shown_on(client, f"/verdicts/{sample('sup-02')['id']}")
    assert "Rewritten and accepted" in shown
    assert "within 30 days" in shown


@pytest.mark.parametrize("kind", ["sup-02", "ret-03"])
async def test_a_verdict_says_how_its_judge_did_in_its_self_test(empty, kind):
    figure = {"form": "short", "accuracy": 0.81, "pairs": 58}
    plain, tested = (sample(kind)["evidence"] | {"self_test": one} for one in (None, figure))
    empty.keep([sample(kind, id="ver-plain", evidence=plain), sample(kind, id="ver-tested", evidence=tested)])
    async with opened(empty) as client:
        html = await (await client.get("/verdicts/ver-tested")).text()
        assert "The judge was right on 81% of 58 built-in pairs, asked in the <bdi>short</bdi> form." in html
        assert "built-in pairs" not in await (await client.get("/verdicts/ver-plain")).text()


async def test_a_verdict_of_the_bundled_judge_says_how_often_that_is_right(empty):
    judges = {"ver-bundled": f"local/{BUNDLED_MODEL}@13", "ver-other": "openai/judge-large"}
    empty.keep(sample("sup-02", id=id_, judge=judge) for id_, judge in judges.items())
    async with opened(empty) as client:
        said = {id_: BUNDLED_ACCURACY in await text_of(client, f"/verdicts/{id_}") for id_ in judges}
    assert said == {"ver-bundled": True, "ver-other": False}
