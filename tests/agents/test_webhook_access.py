"""Who may ask a webhook's target, and when; what is signed; and what is taken for settings."""

import asyncio
import base64
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from agents.webhooks.access import Access
from agents.webhooks.settings import WebhookSettings, key_of
from agents.webhooks.target import signed_headers
from streams.intake_gate import Hold
from tests.support.virtual_time import run_virtually
from tests.support.webhook_target import SECRET

keys = st.binary(min_size=24, max_size=64)


@given(st.text(), st.from_regex(r"[A-Za-z0-9_:-]{1,256}", fullmatch=True), st.lists(keys, min_size=1, max_size=2))
def test_whatever_is_signed_is_verified_by_another_implementation(text: str, identifier: str, secrets: list[bytes]):
    body = text.encode()
    headers = signed_headers(identifier, body, moment=int(time.time()), keys=secrets)
    for secret in secrets:
        Webhook(secret).verify(body, headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(body + b" ", headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(body, headers | {"webhook-id": f"{identifier}0"}, json_parse=False)


def test_a_signature_is_the_one_that_other_implementations_make():
    moment = datetime(2026, 11, 16, 8, tzinfo=UTC)
    headers = signed_headers("ver-1", b'{"a":1}', moment=int(moment.timestamp()), keys=[key_of(SecretStr(SECRET))])
    assert headers["webhook-signature"] == Webhook(SECRET).sign("ver-1", moment, '{"a":1}')
    assert headers["webhook-timestamp"] == "1794816000"


@given(keys, st.booleans())
def test_a_secret_is_the_base64_of_24_to_64_bytes_padded_or_not(key: bytes, padded: bool):
    encoded = base64.b64encode(key).decode()
    assert key_of(SecretStr("whsec_" + (encoded if padded else encoded.rstrip("=")))) == key


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"url": "hooks.example/x"}, "expected a URL such as"),
        ({"url": "ftp://hooks.example/x"}, "expected a URL such as"),
        ({"url": "https:///x"}, "expected a URL such as"),
        ({"url": "https://hooks.example/a b"}, "expected a URL such as"),
        ({"url": "https://user:confidential@hooks.example/"}, "credentials do not belong in the URL"),
        ({"url": "https://hooks.example/#part"}, "a fragment"),
        ({"url": "https://hooks.example:0/"}, "port 0"),
        ({"secret": "confidential"}, "openssl rand -base64 32"),
        ({"secret": "whsec_confidential!"}, "openssl rand -base64 32"),
        ({"secret": "whsec_" + base64.b64encode(b"c" * 23).decode()}, "24 to 64 random bytes"),
        ({"secret": "whsec_" + base64.b64encode(b"c" * 65).decode()}, "24 to 64 random bytes"),
        ({"secret": SECRET.removeprefix("whsec_")}, "expected whsec_"),
        ({"previous_secret": "whsec_confidential"}, "24 to 64 random bytes"),
        ({"topics": []}, "at least 1 item"),
        ({"topics": ["accepted"]}, "'rejected', 'improved' or 'alerts'"),
        ({"topics": ["alerts", "alerts"]}, "named twice"),
        ({"topics": ["alerts"], "include_record": True}, "include_record is for rejected verdicts"),
        ({"timeout_seconds": 61}, "less than or equal to 60"),
        ({"give_up_seconds": -1}, "greater than or equal to 0"),
        ({"headers": {}}, "Extra inputs"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(wrong: dict[str, Any], said: str):
    with pytest.raises(ValidationError) as caught:
        WebhookSettings.model_validate({"url": "https://hooks.example/x", "secret": SECRET} | wrong)
    messages = [error["msg"] for error in caught.value.errors()]
    assert any(said in message for message in messages), messages
    assert not any("confidential" in message for message in messages)


def test_secrets_are_not_shown():
    settings = WebhookSettings(url="https://hooks.example/x", secret=SecretStr(SECRET))
    assert "AAEC" in SECRET
    assert "AAEC" not in repr(settings) + settings.model_dump_json() + str(settings.model_dump())


def test_while_a_target_is_down_one_asks_at_a_time_and_everybody_has_a_turn():
    turns: list[tuple[int, float]] = []

    async def run() -> None:
        access = Access(3)

        async def knock(number: int) -> None:
            for _ in range(2):
                async with access.place():
                    turns.append((number, asyncio.get_running_loop().time()))
                    access.failed(None)

        for _ in range(3):
            access.failed(None)
        assert access.down
        tasks = [asyncio.create_task(knock(number)) for number in range(3)]
        await asyncio.sleep(3.4)
        access.leave()
        with pytest.raises(Hold):
            await asyncio.gather(*tasks)

    _, seconds = run_virtually(run)
    assert seconds == 3.4
    assert [number for number, _ in turns[:3]] == [0, 1, 2]
    moments = [0.0, *(moment for _, moment in turns)]
    assert all(0.5 <= later - earlier <= 1.2 for earlier, later in pairwise(moments))


def test_the_first_that_is_taken_opens_the_way_for_all():
    async def run() -> None:
        access = Access(8)
        for _ in range(3):
            access.failed(None)
        waiting = [asyncio.create_task(access.pause(30)) for _ in range(20)]
        async with access.place():
            access.succeeded()
        await asyncio.gather(*waiting)
        assert not access.down
        async with AsyncExitStack() as stack:
            for _ in range(8):
                await stack.enter_async_context(access.place())

    _, seconds = run_virtually(run)
    assert seconds <= 1


def test_what_a_target_asks_for_is_kept_also_where_an_earlier_request_is_taken_meanwhile():
    async def run() -> None:
        access = Access(8)
        for _ in range(4):
            access.failed(10.0)
        access.succeeded()
        async with access.place():
            pass

    _, seconds = run_virtually(run)
    assert seconds == pytest.approx(10)


def test_a_target_that_asks_for_no_pause_while_it_is_down_is_not_asked_without_one():
    async def run() -> None:
        access = Access(1)
        for _ in range(3):
            access.failed(0.0)
        async with access.place():
            pass

    _, seconds = run_virtually(run)
    assert 0.5 <= seconds <= 1
