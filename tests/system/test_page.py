"""The page in a real browser: live rows, evidence, the keyboard alone, hostile texts, every width and both schemes."""

import asyncio
import contextlib
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from schemas import Label
from tests.assay.running import ROOT, assay_process, environment
from tests.support.page import ALERT, SAMPLES, PageStore, asked, dead_letter, numbered, sample
from tests.support.scenarios import Place
from tests.support.trust_verdicts import read_all
from tests.support.versions import VERSIONS, versions
from tests.support.waiting import PATIENCE_SECONDS

UPDATE = ROOT / "examples" / "model_update.jsonl"
PATIENCE_MS = PATIENCE_SECONDS * 1000
HOSTILE = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'><svg/onload='window.hit = 3'>"
    '<a href="data:text/html,<script>1</script>">go</a> \u202eturned\u202c <style>*{display:none}</style>'
)
VIOLATIONS = "window.violations = []; addEventListener('securitypolicyviolation', e => violations.push(e.blockedURI))"
CLOSED_AND_A_KEY = """key => {
    document.querySelector("#keys-on").focus();
    document.querySelector("dialog").close();
    const typed = new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true});
    (document.activeElement ?? document.body).dispatchEvent(typed);
}"""
"""Closes the list of keys and types one before the next frame: its box still has the focus then."""
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")

ASKED = ("sup-02", "sup-09", "trv-03")

PAGES = [
    "/",
    "/?minutes=43200",
    "/verdicts",
    "/verdicts?outcome=reject",
    "/verdicts?source=support-bot&model=acme-chat-4&checker=consistency&minutes=60",
    "/alerts",
    "/alerts/alert-1",
    "/failures",
    "/failures?source=support-bot&model=acme-chat-4&checker=consistency&minutes=43200",
    "/nowhere",
    "/records/support-bot/sup-02",
    "/review",
    *(f"/review/{sample(of)['id']}" for of in ASKED),
    "/review/hostile",
    *(f"/verdicts/{one['verdict']['id']}" for one in SAMPLES),
    "/verdicts/hostile",
]


@dataclass
class Watched:
    """A page in the browser, and what went wrong on it."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def says(self, words: str) -> None:
        """Wait until these words are there, and the keys."""
        self.page.get_by_text(words).first.wait_for()
        self.page.wait_for_load_state()

    def drag_over(self, picture: str, begin: float, end: float) -> None:
        """Drag over a part of a picture, from one share of its width to another."""
        box = self.page.locator(picture).first.bounding_box()
        assert box
        height = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + box["width"] * begin, height)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + box["width"] * end, height)
        self.page.mouse.up()

    def check(self) -> None:
        """Nothing was refused by the policy, and no script failed."""
        assert self.page.evaluate("window.violations") == []
        assert self.page.evaluate("window.hit") is None
        # A page that is not there is one of those that are looked at.
        assert [fault for fault in self.faults if "404 (Not Found)" not in fault] == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium-headless-shell")
    assert found, "tests/system/install-packages installs it"
    with sync_playwright() as playwright:
        # A sandbox needs a user of its own, which containers lack.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., Watched]]:
    with contextlib.ExitStack() as closing:

        def watch(address: str, *, named: str | None = None, **options: object) -> Watched:
            context = closing.enter_context(contextlib.closing(browser.new_context(**options)))
            context.set_default_timeout(PATIENCE_MS)
            context.add_init_script(VIOLATIONS)
            if named:
                context.add_cookies([{"name": "assay-annotator", "value": named, "url": f"{address}/review"}])
            watched = Watched(context.new_page(), address)
            page, faults = watched.page, watched.faults
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("dialog", lambda dialog: faults.append(dialog.message))
            page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
            return watched

        yield watch


@contextlib.contextmanager
def program(folder: Path, *arguments: str, until: str, **variables: str) -> Iterator[re.Match[str]]:
    """`assay` as long as the context lasts; yields what it says at the beginning."""
    command = [sys.executable, "-m", "assay", *arguments]
    with subprocess.Popen(
        command, cwd=folder, env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout
            said = ""
            while not (found := re.search(until, said, re.DOTALL)):
                line = process.stdout.readline()
                assert line, said
                said += line
            yield found
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`assay ui` over a store with a verdict of each kind, a hostile one, a hundred more, and a series' versions."""
    folder = tmp_path_factory.mktemp("page")
    url = f"sqlite:///{folder / 'verdicts.db'}"
    with contextlib.closing(PageStore(url)) as store:
        store.keep(numbered(100))
        store.keep_samples()
        evidence = sample("sup-02")["evidence"]
        fault = evidence["sentences"][0] | {"text": HOSTILE, "end": len(HOSTILE), "reason": HOSTILE, "passage": HOSTILE}
        evidence = evidence | {"sentences": [fault]}
        names = {"id": "hostile", "record_id": HOSTILE[:200], "source": HOSTILE[:200], "model": HOSTILE[:200]}
        store.keep([sample("sup-02", **names, reason=HOSTILE, evidence=evidence)])
        store.keep_record(
            source=HOSTILE[:200], id=HOSTILE[:200], response=HOSTILE + "x" * 1_000_000, contexts=[HOSTILE]
        )
        store.keep_message(dead_letter("consistency"), ALERT.model_copy(update={"raised_at": datetime.now(UTC)}))
        store.keep_message(*(asked(sample(of), number) for number, of in enumerate(ASKED)))
        about = {"verdict_id": "hostile", "source": HOSTILE[:200], "model": HOSTILE[:200]}
        note = Label(**about, annotator="ada", label="bad", note=HOSTILE)
        store.keep_message(asked(sample("sup-02", **names), 9), note)
        series = {name: sample("sup-02")[name] for name in ("source", "model", "checker")}
        store.keep_message(versions(*reversed(VERSIONS), **series))
    until = r"The page is at (http://\S+)/ until"
    with program(folder, "ui", "--port", "0", until=until, ASSAY_STORE__URL=url) as found:
        yield found[1]


def test_a_rejection_arrives_live_during_the_demo_and_leads_to_its_evidence(tmp_path: Path, watched):
    until = r"page +(http://\S+)/\n.*BOOTSTRAP_SERVERS=(\S+)"
    with program(tmp_path, "demo", "--follow", until=until) as found:
        seen = watched(found[1])
        page = seen.page
        seen.open("/verdicts?outcome=reject&source=orders-bot")
        assert page.locator("#verdicts tbody tr").count() == 0
        page.locator("#q").focus()
        sent = assay_process("send", UPDATE, cwd=tmp_path, ASSAY_KAFKA__BOOTSTRAP_SERVERS=found[2])
        assert sent.returncode == 0, sent.stderr
        page.locator("#show-new").wait_for(state="visible")
        assert re.fullmatch(r"\d+ new verdicts?", page.locator("#news").inner_text())
        # Nothing has moved under the reader.
        assert page.locator("#verdicts tbody tr").count() == 0
        assert page.evaluate("document.activeElement.id") == "q"
        page.locator("#show-new").click()
        page.locator("#verdicts tbody tr").first.wait_for()
        assert set(page.locator("#verdicts .badge").all_inner_texts()) == {"✗ rejected"}
        page.select_option("#checker", "consistency")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url("**checker=consistency**")
        page.locator("#verdicts tbody a").first.click()
        page.wait_for_url("**/verdicts/ver-*")
        assert page.locator("mark.fault[id^=sentence]").count() >= 1
        assert page.locator("mark[id^=passage]").count() >= 1
        seen.open("/?minutes=60")
        assert page.locator("#running ~ .scroll tbody tr").count() >= 1
        # A part of a curve that is dragged over becomes the time that is shown, and the link around it is not followed.
        seen.drag_over(".card svg", 0.5, 0.8)
        page.wait_for_url("**/?since=*&until=*")
        assert page.locator(".ranges details[open]").count() == 1
        listed = page.request.get(f"{found[1]}/verdicts.json?outcome=reject&source=orders-bot").json()
        assert {one["outcome"] for one in listed["verdicts"]} == {"reject"}
        seen.open("/review?source=orders-bot")
        page.locator("#name:focus").wait_for()
        page.keyboard.type("ada")
        page.keyboard.press("Enter")
        seen.says("Answering as")
        # The agent asks within seconds, and as soon tells what it makes of the answer.
        while not page.locator(".answers").count():
            seen.open("/review?source=orders-bot")
        seen.says("of orders-bot")
        page.keyboard.press("g")
        seen.says("Last answer")
        while not page.locator(".agreement").count():
            seen.open("/")
        seen.says("of 1 outputs of")
        seen.check()


def test_a_list_is_zoomed_into_and_its_view_saved(address: str, watched):
    seen = watched(address)
    page = seen.page
    seen.open("/verdicts?source=support-bot&minutes=60")
    seen.drag_over(".histogram svg", 0.9, 0.99)
    page.wait_for_url("**/verdicts?source=support-bot&since=*&until=*")
    page.locator(".histogram a").last.click(force=True)
    page.wait_for_load_state()
    assert page.locator("#verdicts tbody tr").count() >= 1
    listed = page.request.get(address + page.url.removeprefix(address).replace("/verdicts", "/verdicts.json")).json()
    assert {one["source"] for one in listed["verdicts"]} == {"support-bot"}
    page.locator("#view").fill("the last minutes")
    page.get_by_role("button", name="Save view").click()
    here = page.url
    seen.open("/verdicts")
    page.get_by_role("link", name="the last minutes").click()
    page.wait_for_url(here)
    page.get_by_role("button", name="×").click()
    assert page.locator(".saved").count() == 0
    page.get_by_role("link", name="same fault").first.click()
    seen.says("Verdicts with the same fault")
    seen.check()


def test_the_keyboard_alone_leads_from_the_list_to_the_evidence(address: str, watched):
    seen = watched(address)
    page, press = seen.page, seen.page.keyboard.press
    seen.open("/")
    press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    press("/")
    page.wait_for_url("**/verdicts")
    press("/")
    page.keyboard.type("basic plan")
    press("Enter")
    page.wait_for_url("**q=basic+plan**")
    press("j")
    press("Enter")
    page.wait_for_url("**/verdicts/ver-*")
    press("j")
    assert page.evaluate("document.activeElement.closest('mark').id") == "sentence-1"
    press("Enter")
    assert page.locator("mark.shown").count() == 2
    press("?")
    assert page.locator("dialog[open]").count() == 1
    page.locator("#keys-on").focus()
    press("Space")
    press("Escape")
    assert page.locator("dialog[open]").count() == 0
    press("?")
    assert page.locator("dialog[open]").count() == 0, "the keys are switched off"
    seen.check()


@pytest.fixture
def queue(tmp_path: Path, embedded_place: Place) -> Iterator[str]:
    """`assay ui` over a store with three open requests."""
    url, settings = f"sqlite:///{tmp_path / 'verdicts.db'}", embedded_place.checked()
    with contextlib.closing(PageStore(url)) as store:
        store.keep_samples()
        store.keep_message(*(asked(sample(of), number) for number, of in enumerate(ASKED)))
    variables = {
        "ASSAY_STORE__URL": url,
        "ASSAY_KAFKA__BOOTSTRAP_SERVERS": embedded_place.servers,
        "ASSAY_TOPICS__PREFIX": settings.topics.prefix,
    }
    with program(tmp_path, "ui", "--port", "0", until=r"The page is at (http://\S+)/ until", **variables) as found:
        yield found[1]


def test_the_keyboard_alone_leads_through_the_queue(queue: str, watched, embedded_place: Place):
    seen = watched(queue)
    page, press, judge = seen.page, seen.page.keyboard.press, seen.page.locator("details.found .badge")
    seen.open("/review")
    page.locator("#name:focus").wait_for()
    page.keyboard.type("ada")
    press("Enter")
    seen.says("3 waiting")
    response = " ".join(page.locator(".pane").first.inner_text().split())
    assert sample("sup-02")["evidence"]["sentences"][0]["text"] in response
    assert not judge.is_visible()
    press("e")
    judge.wait_for()
    press("?")
    assert "good, bad, unsure" in page.locator("dialog[open]").inner_text()
    page.evaluate(CLOSED_AND_A_KEY, "w")
    page.keyboard.type("no good guess")
    press("Enter")
    press("Escape")
    press("b")
    seen.says("2 waiting")
    seen.says("no good guess")
    press("n")
    seen.says("1 waiting")
    press("g")
    seen.says("Nothing left after what you skipped")
    press("n")
    seen.says("1 waiting")
    press("z")
    seen.says("You took back your answer")
    assert "trv-03" in page.locator(".facts").first.inner_text()
    press("u")
    seen.says("1 waiting")
    page.evaluate("document.querySelector('#keys-on').click()")
    press("g")
    page.get_by_role("button", name="Good").focus()
    press("Enter")
    seen.says("Nothing to review")
    seen.check()
    with ThreadPoolExecutor(1) as beside:
        # Playwright has an event loop in this thread.
        topic = embedded_place.checked().topics.labels
        sent = beside.submit(asyncio.run, read_all(embedded_place.servers, topic)).result()
    labels = sorted((Label.model_validate_json(each.value) for each in sent), key=lambda each: each.labelled_at)
    ids = {sample(of)["id"]: of for of in ASKED}
    assert [(ids[each.verdict_id], "back" if each.withdrawn else each.label, each.note) for each in labels] == [
        ("sup-02", "bad", "no good guess"),
        ("trv-03", "good", None),
        ("trv-03", "back", None),
        ("trv-03", "unsure", None),
        ("sup-09", "good", None),
    ]


def test_hostile_texts_are_texts(address: str, watched):
    seen = watched(address)
    seen.open("/verdicts/hostile")
    assert seen.page.locator("script").count() == 1
    assert seen.page.locator("img, svg:not(.chart svg, .wide-chart svg), style").count() == 0
    shown = seen.page.locator("#sentence-1").inner_text()
    assert shown.startswith(HOSTILE[:60])
    assert "⟨U+202E⟩turned⟨U+202C⟩" in shown
    assert "characters not shown" in seen.page.locator(".pane").first.inner_text()
    with seen.page.expect_download() as download:
        seen.page.get_by_text("The response as plain text").click()
    assert download.value.path().read_text("utf-8") == HOSTILE + "x" * 1_000_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 640, 360], ids=["wide", "zoomed", "narrow"])
def test_every_page_fits_and_can_be_read(address: str, watched, scheme: str, width: int):
    viewport = {"width": width, "height": 800}
    seen = watched(address, named="ada", viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    for path in PAGES:
        seen.open(path)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert seen.page.evaluate(CONTRAST) == [], path
        assert seen.page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
        seen.check()
