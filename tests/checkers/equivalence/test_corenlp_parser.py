"""CoreNLP's server as a parser: a stub on loopback answers as the server does, or misbehaves."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from aiohttp import web

from checkers.checker import Undecidable
from checkers.equivalence.corenlp_parser import LONGEST, CoreNLPParser
from checkers.equivalence.trees import Tree
from models.protocol import ModelUnavailable
from tests.checkers.equivalence.conftest import MakeChecker
from tests.support.equivalence import decision
from tests.support.ports import free_port
from tests.support.trees import in_brackets

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CAT = "The cat slept ."
CAT_TREE = "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .)))"


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[str]:
    """A server that answers all requests with one handler; gives its address."""
    application = web.Application()
    application.router.add_post("/", handler)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def responding(*responses: dict[str, object]) -> AbstractAsyncContextManager[str]:
    """A server with these responses, one after the other, and the last again and again."""
    waiting = list(responses)

    async def handler(_: web.Request) -> web.Response:
        return web.Response(**(waiting.pop(0) if len(waiting) > 1 else waiting[0]))  # type: ignore[arg-type]

    return served(handler)


def answer(sentence: str, parse: str) -> dict[str, object]:
    """The server's response for words with single blanks between: it counts in units of UTF-16."""
    tokens, place = [], 0
    for word in sentence.split():
        length = len(word.encode("utf-16-le")) // 2
        tokens.append({"characterOffsetBegin": place, "characterOffsetEnd": place + length})
        place += length + 1
    return {"text": json.dumps({"sentences": [{"parse": parse, "tokens": tokens}]})}


async def parsed(url: str, sentence: str = CAT, seconds: float = 20.0) -> Tree:
    parser = CoreNLPParser(url, seconds=seconds)
    try:
        return await parser.parse(sentence)
    finally:
        await parser.close()


async def test_its_tree_is_over_the_characters_of_the_sentence() -> None:
    sentence = "A 😀 cat slept ."
    async with responding(answer(sentence, "(ROOT (S (NP (DT A) (NFP 😀) (NN cat)) (VP (VBD slept)) (. .)))")) as url:
        tree = await parsed(url, sentence)
    assert tree.tokens == ("A", "😀", "cat", "slept", ".")
    assert [sentence[start:].split(maxsplit=1)[0] for start in tree.starts] == list(tree.tokens)


async def test_a_sentence_is_sent_as_one_with_the_models_that_the_server_has_loaded() -> None:
    seen: list[tuple[str, dict[str, str]]] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((await request.text(), json.loads(request.query["properties"])))
        return web.Response(**answer(CAT, CAT_TREE))  # type: ignore[arg-type]

    async with served(handler) as url:
        assert in_brackets(await parsed(url)) == CAT_TREE
    ((sentence, properties),) = seen
    assert (sentence, properties["ssplit.isOneSentence"], properties["parse.maxlen"]) == (CAT, "true", str(LONGEST))


async def test_no_server_holds_the_record() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ModelUnavailable, match=rf"{url} \(equivalence\.corenlp_url\)") as caught:
        await parsed(url)
    assert (caught.value.retry_after > 0, caught.value.suspect) == (True, False)


@pytest.mark.parametrize(
    "response",
    [
        {"status": 503},
        {"status": 429},
        {"status": 500, "text": "CoreNLP request timed out. Your document may be too long."},
    ],
)
async def test_a_server_without_time_holds_the_record_and_is_asked_again(response: dict[str, object]) -> None:
    async with responding(response, answer(CAT, CAT_TREE)) as url:
        with pytest.raises(ModelUnavailable) as caught:
            await parsed(url)
        assert caught.value.suspect
        assert in_brackets(await parsed(url)) == CAT_TREE


async def test_a_sentence_without_an_answer_is_to_blame_if_others_have_theirs() -> None:
    async def handler(request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async with served(handler) as url:
        with pytest.raises(ModelUnavailable, match="no answer within") as caught:
            await parsed(url, seconds=0.2)
    assert caught.value.suspect


async def test_a_sentence_that_the_server_refuses_is_undecidable_and_not_quoted() -> None:
    text = "java.lang.IllegalStateException: no tree for the secret cat"
    async with responding({"status": 500, "text": text}) as url:
        with pytest.raises(Undecidable) as caught:
            await parsed(url)
    assert caught.value.cause == "unparsable"
    assert "secret" not in caught.value.detail


@pytest.mark.parametrize(
    "response",
    [
        {"text": "<html>It works!</html>"},
        {"text": json.dumps({"sentences": []})},
        {"text": json.dumps({"sentences": [{"tokens": []}]})},
        {"text": "[]"},
        {"text": "not here", "status": 404},
        {"text": "whose are you?", "status": 401},
    ],
)
async def test_what_is_no_corenlp_server_holds_the_record(response: dict[str, object]) -> None:
    async with responding(response) as url:
        with pytest.raises(ModelUnavailable, match="is a CoreNLP server there"):
            await parsed(url)


@pytest.mark.parametrize(
    "parse",
    [
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept))",
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept))))",
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .) (. .)))",
        "",
        "(X (DT The) (NN cat) (VBD slept) (. .))",
    ],
)
async def test_a_tree_that_is_none_over_the_sentence_is_undecidable(parse: str) -> None:
    async with responding(answer(CAT, parse)) as url:
        with pytest.raises(Undecidable) as caught:
            await parsed(url)
    assert caught.value.cause == "unparsable"


async def test_an_answer_without_end_is_cut_off() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(64):
            await response.write(b" " * 1_000_000)
        return response

    async with served(handler) as url:
        with pytest.raises(Undecidable, match="bytes"):
            await parsed(url)


async def test_with_an_address_the_checker_uses_its_trees(checker_of: MakeChecker) -> None:
    async def handler(request: web.Request) -> web.Response:
        sentence = await request.text()
        return web.Response(**answer(sentence, CAT_TREE.replace("cat", sentence.split()[1])))  # type: ignore[arg-type]

    async with served(handler) as url:
        verdict = await checker_of(corenlp_url=url).check(decision(CAT, "The kitten slept ."))
    assert verdict.evidence.type == "equivalence"
    assert verdict.evidence.parser == "corenlp/englishPCFG"
    assert checker_of().config_digest != checker_of(corenlp_url=url).config_digest
