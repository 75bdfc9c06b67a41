"""What was checked is shown as text, whatever is in it."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from tests.support.page import opened, sample

HOSTILE = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"><a href="data:text/html,x" onclick=alert(3)>go</a>'
    "<svg/onload=alert(4)>'\"><style>*{display:none}</style>{{ 7 * 7 }}{% raw %}</textarea></title><!--"
)
TURNED = "\u202eevil\u202c\u2066x\u2069\u200b\U000e0041"


class Tags(HTMLParser):
    """The tags of a page, and their attributes."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def _wrapped(value):
    """A value of JSON with every text in it, and every key that is free, made hostile."""
    if isinstance(value, dict):
        return {key: value if key in FIXED else _wrapped(value) for key, value in value.items()}
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    return f"{value} {HOSTILE}{TURNED}" if isinstance(value, str) else value


FIXED = {
    "id", "type", "outcome", "task", "against", "checked_at",
    "occurred_at", "kind", "challenge", "fault", "schedule", "transformation", "store", "needs",
    "name", "require", "asked", "category", "distribution", "polarity", "cause", "vector", "value", "checker",
    "source", "model", "record_id", "checker_version", "config_digest", "origin", "reject_if",
}  # fmt: skip
KINDS = ("sup-02", "trv-03", "sup-05", "par-02", "par-06", "trusted", "known", "echo0", "ret-03", "pro-02", "crit-01")


def _hostile(record_id):
    verdict = _wrapped(sample(record_id))
    if verdict["evidence"]["type"] == "consistency":
        for one in verdict["evidence"]["sentences"]:
            one["end"] = one["start"] + len(one["text"])
    if verdict["evidence"]["type"] == "extraction":
        for one in verdict["evidence"]["causes"] + verdict["evidence"]["untested"]:
            one.update({key: value.split(" ")[0] for key, value in one.items() if key in {"kind", "reason"}})
    return verdict | {"source": HOSTILE[:200], "record_id": HOSTILE[:200], "metadata": {HOSTILE: HOSTILE}}


@pytest.mark.parametrize("kind", KINDS)
async def test_hostile_texts_change_no_tag_of_a_page(empty, kind):
    plain, hostile = sample(kind, id="ver-plain"), _hostile(kind) | {"id": "ver-hostile"}
    # The overview shows what was checked of late.
    hostile["checked_at"] = datetime.now(UTC).isoformat()
    empty.keep([plain, hostile])
    async with opened(empty) as client:
        for path in ("/verdicts/ver-hostile", "/verdicts", "/"):
            html = await (await client.get(path)).text()
            tags = Tags()
            tags.feed(html)
            assert {tag for tag, _ in tags.found} <= KNOWN_TAGS
            assert not [one for _, attributes in tags.found for one in attributes if one.startswith("on")]
            links = [at[name] for _, at in tags.found for name in ("href", "src", "action") if at.get(name)]
            assert all(link.startswith(("/", "#")) or link == "data:," for link in links)
            assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200b\U000e0000-\U000e007f]", html)
            assert "{{ 7 * 7 }}" in html or path == "/"
            assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


KNOWN_TAGS = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "button", "kbd", "main", "p",
    "bdi", "h1", "h2", "h3", "h4", "span", "dl", "div", "dt", "dd", "time", "section", "strong", "mark", "sup", "ol",
    "li", "ul", "q", "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "code", "footer",
    "dialog", "label", "input", "form", "b", "blockquote", "em", "select", "option", "template", "article", "svg",
    "g", "path", "polygon", "polyline", "circle", "rect", "figure", "figcaption",
}  # fmt: skip


async def test_a_response_of_a_megabyte_is_cut_around_its_marks_and_can_be_had_whole(empty):
    response = "A" * 600_000 + " A wrong date. " + "B" * 400_000
    start = response.index("A wrong date.")
    finding = sample("sup-02")["evidence"]["sentences"][0] | {"start": start, "end": start + 13, "mark": -1}
    finding["text"] = "A wrong date."
    evidence = sample("sup-02")["evidence"] | {"sentences": [finding]}
    empty.keep([sample("sup-02", evidence=evidence)])
    empty.keep_record(source="support-bot", id="sup-02", response=response, contexts=["c" * 500_000])
    path = f"/verdicts/{sample('sup-02')['id']}"
    async with opened(empty) as client:
        html = await (await client.get(path)).text()
        whole = await client.get(f"{path}/response")
        assert await whole.text() == response
        record = await (await client.get(f"{path}/record")).text()
    assert len(html) < 100_000
    assert re.search(r'A <mark class="fault" id="sentence-1".*?A wrong date\..*?</mark> B', html)
    assert "598,001 characters not shown" in html
    assert "c" * 500_000 in record
    assert whole.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert whole.headers["Content-Disposition"].startswith("attachment")


async def test_a_response_of_ten_thousand_sentences_shows_those_at_fault(empty):
    one = sample("sup-02")["evidence"]["sentences"][1] | {"text": "It is so.", "mark": 1}
    many = [one | {"start": 10 * n, "end": 10 * n + 9} for n in range(10_000)]
    many[7_777]["mark"] = -1
    empty.keep([sample("sup-02", evidence=sample("sup-02")["evidence"] | {"sentences": many})])
    async with opened(empty) as client:
        html = await (await client.get(f"/verdicts/{sample('sup-02')['id']}")).text()
    assert html.count('<mark class="fault"') >= 1
    assert "9900 more sentences" in html
    assert len(html) < 300_000
