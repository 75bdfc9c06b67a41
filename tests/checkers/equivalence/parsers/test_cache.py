"""Trees are made once."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from checkers.checker import Undecidable
from checkers.equivalence.parsers import Asks, ParserSettings
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.parsers.cache import CachedParser
from checkers.equivalence.parsers.embedded.parser import parse_sentence
from checkers.equivalence.parsers.tree_file import TreeFile, _key, _packed, _unpacked
from checkers.equivalence.trees import Tree
from checkers.oracle.protocol import OracleUnavailable

CAT = "The cat slept on the sofa."


class Counting:
    """A parser that counts, and fails or takes its time if told to."""

    def __init__(self, name: str = "counting/1") -> None:
        self.name = name
        self.parsed: list[str] = []
        self.fault: Exception | None = None
        self.seconds = 0.0
        self.lingering = 0.0
        self.cancelled: list[str] = []
        self.closed = False
        self.under_way = 0
        self.most = 0

    async def parse(self, sentences: Sequence[str], asks: Asks | None = None) -> list[Tree]:
        self.parsed += sentences
        self.under_way += len(sentences)
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += sentences
            await asyncio.sleep(self.lingering)
            raise
        finally:
            self.under_way -= len(sentences)
        if self.fault is not None:
            raise self.fault
        return [parse_sentence(one) for one in sentences]

    async def close(self) -> None:
        self.closed = True


def cached(inner: Counting, *, tokens: int = 1000, file: TreeFile | None = None) -> CachedParser:
    return CachedParser(inner, max_characters=200, tokens=tokens, file=file)


async def test_a_sentence_is_parsed_once() -> None:
    inner = Counting()
    parser = cached(inner)

    first = await parser.parse([CAT, "It rains.", CAT])
    second = await parser.parse([CAT])

    assert first[0] == first[2] == second[0] == parse_sentence(CAT)
    assert inner.parsed == [CAT, "It rains."]


async def test_one_under_way_is_joined() -> None:
    inner = Counting()
    inner.seconds = 0.05
    parser = cached(inner)

    trees = await asyncio.gather(*(parser.parse([CAT]) for _ in range(10)))

    assert all(tree == trees[0] for tree in trees)
    assert inner.parsed == [CAT]


async def test_a_failure_is_told_to_all_who_wait_and_forgotten() -> None:
    inner = Counting()
    inner.seconds, inner.fault = 0.02, OracleUnavailable("away", retry_after=1.0)
    parser = cached(inner)

    ends = await asyncio.gather(*(parser.parse([CAT]) for _ in range(3)), return_exceptions=True)
    inner.fault = None

    assert [type(end) for end in ends] == [OracleUnavailable] * 3
    assert await parser.parse([CAT]) == [parse_sentence(CAT)]
    assert inner.parsed == [CAT, CAT]


async def test_when_all_have_left_the_parsing_ends() -> None:
    inner = Counting()
    inner.seconds = 60.0
    parser = cached(inner)
    waiting = asyncio.create_task(parser.parse([CAT]))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    inner.seconds = 0.0

    assert await asyncio.wait_for(parser.parse([CAT]), timeout=5) == [parse_sentence(CAT)]


async def test_the_parsing_itself_is_told_to_end() -> None:
    inner = Counting()
    inner.seconds = 60.0
    parser = cached(inner)
    waiting = asyncio.create_task(parser.parse([CAT]))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.sleep(0.01)

    assert inner.cancelled == [CAT]


async def test_who_stays_gets_the_tree_when_another_leaves() -> None:
    inner = Counting()
    inner.seconds = 0.05
    parser = cached(inner)
    leaving, staying = (asyncio.create_task(parser.parse([CAT])) for _ in range(2))
    await asyncio.sleep(0.01)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)

    assert await staying == [parse_sentence(CAT)]
    assert (inner.parsed, inner.cancelled) == ([CAT], [])


async def test_what_is_being_given_up_is_not_joined_and_ends_no_other() -> None:
    inner = Counting()
    inner.seconds, inner.lingering = 60.0, 0.02
    parser = cached(inner)
    leaving = asyncio.create_task(parser.parse([CAT]))
    await asyncio.sleep(0.01)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    inner.seconds = 0.2

    # One comes while the first parsing has not come to its end, one when it has.
    second = asyncio.create_task(parser.parse([CAT]))
    await asyncio.sleep(0.05)
    third = asyncio.create_task(parser.parse([CAT]))

    assert await second == await third == [parse_sentence(CAT)]
    assert inner.parsed == [CAT, CAT]


async def test_memory_is_bounded_by_tokens_and_the_oldest_go_first() -> None:
    inner = Counting()
    parser = cached(inner, tokens=20)
    sentences = [f"It rained on day {number} ." for number in range(5)]

    for one in [*sentences, sentences[-1], sentences[0]]:
        await parser.parse([one])

    assert inner.parsed == [*sentences, sentences[0]]


async def test_without_room_nothing_is_kept() -> None:
    inner = Counting()
    parser = cached(inner, tokens=0)

    await parser.parse([CAT])
    await parser.parse([CAT])

    assert inner.parsed == [CAT, CAT]


@pytest.mark.parametrize(("sentence", "cause"), [("", "empty_text"), (" \n", "empty_text"), ("a" * 201, "too_long")])
async def test_what_cannot_be_parsed_reaches_no_parser(sentence: str, cause: str) -> None:
    inner = Counting()

    with pytest.raises(Undecidable) as caught:
        await cached(inner).parse([CAT, sentence])

    assert caught.value.cause == cause
    assert inner.parsed == []


async def test_of_many_sentences_a_few_are_under_way() -> None:
    inner = Counting()
    inner.seconds = 0.01

    trees = await cached(inner, tokens=10_000).parse([f"Day {number} was dry." for number in range(200)])

    assert [tree.tokens[1] for tree in trees] == [str(number) for number in range(200)]
    assert 0 < inner.most <= 32


async def test_closing_closes_the_parser() -> None:
    inner = Counting()

    await cached(inner).close()

    assert inner.closed


async def test_closing_closes_the_file(tmp_path: Path) -> None:
    file = TreeFile(tmp_path / "trees.sqlite", megabytes=1)

    await cached(Counting(), file=file).close()

    with pytest.raises(RuntimeError, match="after shutdown"):
        await file.get("p", CAT)


async def test_a_file_outlasts_the_process_and_knows_parsers_apart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trees.sqlite"
    for name, count in (("one/1", 1), ("one/1", 0), ("one/2", 1)):
        inner = Counting(name)
        parser = cached(inner, file=TreeFile(path, megabytes=1))

        assert await parser.parse([CAT]) == [parse_sentence(CAT)]
        await parser.close()
        assert len(inner.parsed) == count


async def test_a_file_is_shared_by_workers(tmp_path: Path) -> None:
    files = [TreeFile(tmp_path / "trees.sqlite", megabytes=1) for _ in range(2)]
    sentences = [f"Day {number} was dry." for number in range(20)]

    await asyncio.gather(*(file.put("p", parse_sentence(one)) for file in files for one in sentences))

    assert [await files[0].get("p", one) for one in sentences] == [parse_sentence(one) for one in sentences]
    for file in files:
        await file.close()


async def test_a_file_stays_within_its_size(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    file = TreeFile(path, megabytes=1)
    tree = parse_sentence(" ".join(f"word{number}" for number in range(2_000)))
    for number in range(300):
        await file.put(f"p{number}", tree)

    assert await file.get("p299", tree.sentence) == tree
    assert await file.get("p0", tree.sentence) is None
    await file.close()
    assert path.stat().st_size < 2_000_000


async def test_the_newest_tree_stays_and_the_oldest_go_first(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    file = TreeFile(path, megabytes=1)
    tree = parse_sentence(" ".join(f"word{number}" for number in range(2_000)))
    keys = [_key(f"p{number}", tree.sentence) for number in range(200)]
    kept: list[int] = []
    for number in range(200):
        await file.put(f"p{number}", tree)
        with closing(sqlite3.connect(path)) as connection:
            found = {row[0] for row in connection.execute("SELECT key FROM trees")}
        before, kept = kept, [one for one in range(200) if keys[one] in found]

        assert kept == list(range(kept[0], number + 1))
        assert len(kept) >= 0.9 * len(before)
    await file.close()

    assert kept[0] > 0


async def test_of_a_file_too_small_for_one_tree_the_newest_is_left(tmp_path: Path) -> None:
    file = TreeFile(tmp_path / "trees.sqlite", megabytes=0)
    for sentence in ("It rains.", CAT):
        await file.put("p", parse_sentence(sentence))

        assert await file.get("p", sentence) == parse_sentence(sentence)
    assert await file.get("p", "It rains.") is None
    await file.close()


async def test_a_file_that_cannot_be_used_is_told_once_and_done_without(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    path.write_bytes(b"this is no database, and long enough to be seen as none" * 20)
    inner = Counting()
    parser = cached(inner, tokens=0, file=TreeFile(path, megabytes=1))

    with capture_logs() as logs:
        trees = [await parser.parse([CAT]) for _ in range(3)]
    await parser.close()

    assert trees == [[parse_sentence(CAT)]] * 3
    assert [entry["event"] for entry in logs] == ["tree_cache_failed"]


async def test_a_damaged_entry_is_parsed_anew_and_no_text_is_logged(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    file = TreeFile(path, megabytes=1)
    await file.put("counting/1", parse_sentence(CAT))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE trees SET tree = x'00'")
    connection.close()

    with capture_logs() as logs:
        tree = await cached(Counting(), file=file).parse([CAT])
    await file.close()

    assert tree == [parse_sentence(CAT)]
    assert [entry["event"] for entry in logs] == ["tree_cache_failed"]
    assert "cat" not in str([entry["reason"] for entry in logs])


async def test_a_damaged_entry_is_mended_by_the_next_tree(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    file = TreeFile(path, megabytes=1)
    await file.put("counting/1", parse_sentence(CAT))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE trees SET tree = x'00'")
    connection.close()

    await cached(Counting(), file=file).parse([CAT])

    assert await file.get("counting/1", CAT) == parse_sentence(CAT)
    await file.close()


async def test_a_file_that_can_only_be_read_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    file = TreeFile(path, megabytes=1)
    await file.put("counting/1", parse_sentence(CAT))
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON trees BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    connection.close()

    parser = cached(Counting(), tokens=0, file=file)
    with capture_logs() as logs:
        await parser.parse(["It rains.", CAT, "It snows."])
        await parser.parse([CAT])
        await parser.parse(["It rains."])
    await parser.close()

    assert [entry["reason"] for entry in logs] == ["disk is full"]


@settings(max_examples=25, deadline=None)
@given(st.text(min_size=1, max_size=60).filter(str.strip))
def test_every_tree_comes_back_from_the_file_as_it_was(sentence: str) -> None:
    tree = parse_sentence(sentence)

    assert _unpacked(_packed(tree), sentence) == tree


async def test_the_cache_is_part_of_what_settings_build(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite"
    parser = build_parser(ParserSettings(tree_cache_file=path))

    await parser.parse([CAT])
    await parser.close()

    assert parser.name.startswith("embedded/")
    assert path.exists()
