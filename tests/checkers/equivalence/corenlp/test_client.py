"""CoreNLP's server as a parser: stand-ins that misbehave. A real one answers in tests/system."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web

from checkers.checker import Undecidable
from checkers.equivalence.corenlp.client import CoreNLPParser
from models.protocol import OracleUnavailable
from tests.checkers.equivalence.corenlp.conftest import Serves
from tests.support.ports import free_port
from tests.support.trees import in_brackets

Make = Callable[..., CoreNLPParser]

CAT = "The cat slept."
CAT_TREE = "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .)))"


@pytest.fixture
async def parser_at() -> AsyncIterator[Make]:
    """Builds parsers, and closes them."""
    built = []

    def build(url: str, *, timeout_seconds: float = 20.0) -> CoreNLPParser:
        built.append(CoreNLPParser(url, connections=2, timeout_seconds=timeout_seconds))
        return built[-1]

    yield build
    for parser in built:
        await parser.close()


def answer(sentence: str, parse: str) -> dict[str, object]:
    """As the server answers for words with single blanks between."""
    tokens = []
    place = 0
    for word in sentence.split():
        tokens.append({"characterOffsetBegin": place, "characterOffsetEnd": place + len(word)})
        place += len(word) + 1
    return {"sentences": [{"parse": parse, "tokens": tokens}]}


async def test_no_server_holds_the_record(parser_at: Make) -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(OracleUnavailable, match=r"start one with `assay corenlp`") as caught:
        await parser_at(url).parse(CAT)

    assert url in caught.value.detail
    assert caught.value.retry_after > 0


async def test_what_may_pass_is_tried_again(parser_at: Make, serves: Serves) -> None:
    seen = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(await request.text())
        return web.json_response(answer("The cat slept .", CAT_TREE), status=503 if len(seen) < 3 else 200)

    async with serves(handler) as url:
        tree = await parser_at(url).parse("The cat slept .")

    assert in_brackets(tree) == CAT_TREE
    assert seen == ["The cat slept ."] * 3


async def test_a_sentence_that_the_server_refuses_is_undecidable_and_tried_once(
    parser_at: Make, serves: Serves
) -> None:
    seen = []

    async def handler(_: web.Request) -> web.Response:
        seen.append(1)
        return web.Response(status=500, text="java.lang.IllegalStateException: no tree for the secret cat")

    async with serves(handler) as url:
        with pytest.raises(Undecidable) as caught:
            await parser_at(url).parse(CAT)

    assert caught.value.cause == "unparsable"
    assert "secret" not in caught.value.detail
    assert len(seen) == 1


async def test_a_sentence_for_which_the_server_has_no_time_is_tried_again(parser_at: Make, serves: Serves) -> None:
    seen = []

    async def handler(_: web.Request) -> web.Response:
        seen.append(1)
        if len(seen) == 1:
            return web.Response(status=500, text="CoreNLP request timed out. Your document may be too long.")
        return web.json_response(answer("The cat slept .", CAT_TREE))

    async with serves(handler) as url:
        tree = await parser_at(url).parse("The cat slept .")

    assert in_brackets(tree) == CAT_TREE


@pytest.mark.parametrize(("answers_others", "ending"), [(True, Undecidable), (False, OracleUnavailable)])
async def test_a_sentence_without_an_answer_is_undecidable_and_held_if_nothing_is_answered(
    parser_at: Make, serves: Serves, answers_others: bool, ending: type[Exception]
) -> None:
    async def handler(request: web.Request) -> web.Response:
        if await request.text() == CAT or not answers_others:
            await asyncio.sleep(60)
        return web.json_response(answer("Yes .", "(ROOT (INTJ (UH Yes) (. .)))"))

    async with serves(handler) as url:
        with pytest.raises(ending, match="no answer within"):
            await parser_at(url, timeout_seconds=0.5).parse(CAT)


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
async def test_what_is_no_corenlp_server_holds_the_record(
    parser_at: Make, serves: Serves, response: dict[str, object]
) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(**response)  # type: ignore[arg-type]

    async with serves(handler) as url:
        with pytest.raises(OracleUnavailable, match="is a CoreNLP server there"):
            await parser_at(url).parse(CAT)


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
async def test_a_tree_that_is_none_over_the_sentence_is_undecidable(
    parser_at: Make, serves: Serves, parse: str
) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response(answer("The cat slept .", parse))

    async with serves(handler) as url:
        with pytest.raises(Undecidable) as caught:
            await parser_at(url).parse("The cat slept .")

    assert caught.value.cause == "unparsable"


async def test_an_answer_without_end_is_cut_off(parser_at: Make, serves: Serves) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(64):
            await response.write(b" " * 1_000_000)
        return response

    async with serves(handler) as url:
        with pytest.raises(Undecidable, match="bytes"):
            await parser_at(url).parse(CAT)
