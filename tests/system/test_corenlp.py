"""A real CoreNLP server as `assay corenlp` runs it: 480 MB from Maven Central, and a Java process of 2 GB."""

import contextlib
import http.client
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import psutil
import pytest
from click.testing import CliRunner

from assay.cli.root import cli
from checkers.checker import Undecidable
from checkers.equivalence.corenlp.client import LONGEST, CoreNLPParser
from tests.assay.running import ROOT
from tests.support.ports import free_port
from tests.support.processes import has_ended
from tests.support.trees import in_brackets


@contextlib.contextmanager
def serving(port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and what it has said until it is ready."""
    command = [sys.executable, "-m", "assay", "corenlp", "--port", str(port), "--memory", "1500m", "--threads", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = ""
            for line in process.stdout:
                said += line
                if "Ctrl-C" in line:
                    break
            yield process, said
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where a server listens."""
    port = free_port()
    with serving(port):
        yield port


@pytest.fixture
async def parser(port: int) -> AsyncIterator[CoreNLPParser]:
    parser = CoreNLPParser(f"http://127.0.0.1:{port}", connections=2, timeout_seconds=30)
    yield parser
    await parser.close()


async def test_a_sentence_has_its_tree(parser: CoreNLPParser) -> None:
    assert (
        in_brackets(await parser.parse("The cat slept.")) == "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .)))"
    )


async def test_tokens_stand_where_the_sentence_has_them(parser: CoreNLPParser) -> None:
    sentence = "😀 It  can’t (really) cost “1 1/2” 😀 pounds."

    tree = await parser.parse(sentence)

    assert tree.tokens[:6] == ("😀", "It", "ca", "n’t", "(", "really")
    assert all(sentence.startswith(token, start) for token, start in zip(tree.tokens, tree.starts, strict=True))


async def test_full_stops_within_do_not_end_it(parser: CoreNLPParser) -> None:
    tree = await parser.parse("It rained. Nobody came. We went home.")

    assert tree.tokens == ("It", "rained", ".", "Nobody", "came", ".", "We", "went", "home", ".")


@pytest.mark.parametrize("sentence", ["\u200b", "\x01"])
async def test_what_has_no_word_is_undecidable(parser: CoreNLPParser, sentence: str) -> None:
    with pytest.raises(Undecidable) as caught:
        await parser.parse(sentence)

    assert caught.value.cause == "unparsable"


async def test_half_a_character_is_parsed_as_a_sign(parser: CoreNLPParser) -> None:
    tree = await parser.parse("The cat slept \ud800 here.")

    assert tree.tokens == ("The", "cat", "slept", "\ud800", "here", ".")


async def test_a_sentence_that_is_too_long_for_the_grammar_is_undecidable(parser: CoreNLPParser) -> None:
    with pytest.raises(Undecidable, match=f"at most {LONGEST} tokens") as caught:
        await parser.parse("The cat slept and " * LONGEST)

    assert caught.value.cause == "unparsable"


def own_address() -> str | None:
    """An address of this machine that is not loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: it only asks which way packets would take.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = str(probe.getsockname()[0])
    return None if found.startswith(("127.", "0.")) else found


def test_other_machines_are_refused(port: int) -> None:
    address = own_address()
    assert address is not None, "needs a machine with an address beside loopback's"
    connection = http.client.HTTPConnection(address, port, timeout=60)
    with contextlib.closing(connection):
        connection.request("POST", "/", b"The cat slept.")
        assert connection.getresponse().status == 401


def test_it_serves_until_it_is_told_to_end_and_leaves_nothing_behind() -> None:
    port = free_port()
    with serving(port) as (process, said):
        children = psutil.Process(process.pid).children()
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate()

    assert f'[equivalence]\nparser = "corenlp"\ncorenlp_url = "http://127.0.0.1:{port}"' in said
    assert (process.returncode, rest, errors) == (0, "ended\n", "")
    assert [has_ended(child) for child in children] == [True]


def test_a_server_that_ends_by_itself_is_told() -> None:
    done = CliRunner().invoke(cli, ["corenlp", "--port", str(free_port()), "--memory", "40m"])

    assert done.exit_code == 3
    assert "the server ended with status" in done.stderr
