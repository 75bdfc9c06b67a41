"""Who may see the page and from where, and what holds for every address."""

import re
from html import unescape
from pathlib import Path

import pytest

from tests.support.page import SAMPLES, opened, sample, text_of

TOKEN = "a-token-of-some-length"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


async def test_every_answer_has_the_policy(samples):
    found = ("/", "/static/page.js", "/login", f"/verdicts/{sample('sup-02')['id']}/record")
    async with opened(samples) as client:
        for path, status in (*((one, 200) for one in found), ("/verdicts/none", 404), ("/verdicts?before=x", 400)):
            answer = await client.get(path)
            assert answer.status == status
            assert answer.headers["Content-Security-Policy"] == POLICY
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cache-Control"] in {"no-store", "no-cache"}


async def test_without_the_token_nothing_is_shown(samples):
    async with opened(samples, host="0.0.0.0", token=TOKEN) as client:
        for path in ("/", "/verdicts", "/live", "/alerts", f"/verdicts/{sample('sup-02')['id']}", "/nowhere"):
            answer = await client.get(path)
            assert answer.status == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert "support-bot" not in await answer.text()
            seen = await client.get(path, headers={"Accept": "text/html,*/*"}, allow_redirects=False)
            assert (seen.status, seen.headers["Location"]) == (303, "/login")
        assert (await client.get("/login")).status == 200


async def test_a_program_bears_the_token(samples):
    right, wrong = (f"Bearer {TOKEN}", f"bearer {TOKEN}"), (f"Basic {TOKEN}", "Bearer ", "Bearer é")
    async with opened(samples, host="0.0.0.0", token=TOKEN) as client:
        for given in (*right, *wrong):
            answer = await client.get("/", headers={"Authorization": given})
            assert answer.status == (200 if given in right else 401)


async def test_a_person_logs_in_and_gets_a_cookie_that_is_not_the_token(samples):
    async with opened(samples, host="0.0.0.0", token=TOKEN) as client:
        origin = {"Origin": str(client.make_url("/")).rstrip("/")}
        wrong = await client.post("/login", data={"token": TOKEN[:-1]}, headers=origin)
        assert wrong.status == 401
        assert "That is not the token" in await wrong.text()
        assert (await client.get("/")).status == 401
        right = await client.post("/login", data={"token": TOKEN}, headers=origin, allow_redirects=False)
        assert (right.status, right.headers["Location"]) == (303, "/")
        cookie = right.headers["Set-Cookie"]
        assert TOKEN not in cookie
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert (await client.get("/")).status == 200
    async with opened(samples, host="0.0.0.0", token=TOKEN) as another:
        for value in (TOKEN, cookie.partition("=")[2].partition(";")[0], ""):
            assert (await another.get("/", cookies={"assay": value})).status == 401


async def test_only_the_page_itself_may_post(samples):
    async with opened(samples, host="0.0.0.0", token=TOKEN) as client:
        site, own = "Sec-Fetch-Site", {"Origin": str(client.make_url("/")).rstrip("/")}
        foreign = [{site: "cross-site"} | own, {site: "same-site"}, {"Origin": "https://elsewhere.example"}]
        for headers in (own, {site: "same-origin"}, *foreign, {"Origin": "null"}, {}):
            answer = await client.post("/login", data={"token": TOKEN}, headers=headers, allow_redirects=False)
            assert answer.status == (303 if headers in (own, {site: "same-origin"}) else 403)


async def test_on_loopback_no_other_name_opens_the_page(samples):
    here = ("127.0.0.1:8090", "localhost:8090", "localhost", "[::1]:8090")
    async with opened(samples) as client:
        for host in (*here, "rebound.example:8090", "rebound.example", "127.0.0.1.rebound.example", ""):
            assert (await client.get("/", headers={"Host": host})).status == (200 if host in here else 421)


async def test_with_a_token_the_page_may_stand_behind_a_proxy_of_another_name(samples):
    async with opened(samples, token=TOKEN) as client:
        named = {"Host": "assay.example"}
        assert (await client.get("/", headers=named)).status == 401
        assert (await client.get("/", headers=named | {"Authorization": f"Bearer {TOKEN}"})).status == 200


async def test_a_long_body_is_refused(samples):
    async with opened(samples, host="0.0.0.0", token=TOKEN) as client:
        headers = {"Sec-Fetch-Site": "same-origin"}
        assert (await client.post("/login", data={"token": "x" * 10_000}, headers=headers)).status == 413


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/verdicts/none", 404, "no such verdict"),
        ("/alerts/none", 404, "no such alert"),
        ("/static/../app.py", 404, "Not Found"),
        ("/verdicts?before=x", 400, "a number belongs"),
        ("/verdicts?outcome=maybe", 400, "allowed are accept, reject, abstain"),
        ("/verdicts?since=yesterday", 400, "expected a time such as"),
        (f"/verdicts?q={'x' * 300}", 400, "allowed are 256"),
        ("/?minutes=3", 400, "allowed are 15, 60, 360, 1440, 10080, 43200, 129600"),
        ("/live?after=-1", 400, "a number belongs"),
    ],
)
async def test_a_wrong_address_is_told_what_is_wrong(samples, path, status, said):
    async with opened(samples) as client:
        assert said in unescape(await text_of(client, path, status))


async def test_a_store_that_is_gone_is_told_of(empty, tmp_path: Path):
    async with opened(empty) as client:
        await text_of(client, "/")
        empty.close()
        (tmp_path / "verdicts.db").write_bytes(b"no database, " * 1000)
        assert "The store cannot be read" in await text_of(client, "/verdicts", 503)


async def test_tables_have_captions_and_heads_and_every_id_is_there_once(samples):
    paths = ["/", "/verdicts", "/alerts", *(f"/verdicts/{one['verdict']['id']}" for one in SAMPLES)]
    async with opened(samples) as client:
        for path in paths:
            html = await text_of(client, path)
            tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
            assert all("<caption>" in one and 'scope="col"' in one for one in tables), path
            ids = re.findall(r'\bid="([^"]+)"', html)
            assert len(ids) == len(set(ids)), path
            assert not set(re.findall(r'aria-describedby="([^"]+)"', html)) - set(ids), path
            assert not set(re.findall(r'href="#([^"]+)"', html)) - set(ids), path
            assert " style=" not in html
            assert "<h1" in html
