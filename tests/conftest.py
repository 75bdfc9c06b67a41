"""Brokers for tests: a real Apache Kafka and the embedded one. An empty configuration. How Hypothesis searches."""

import gc
import logging
import os
import sys
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from checkers.form_test import MethodResult
from models.judges.self_test import FormResult, KeptTest, PairOutcome
from streams.embedded import EmbeddedBroker
from tests.support.kafka import ADDRESS_VARIABLE, KafkaBroker, running_kafka
from tests.support.postgres import OwnPostgres, Postgres
from tests.support.scenarios import Place
from tests.support.shared_servers import shared_server, shared_servers
from tests.support.stored import Stored

# While a broker is away its clients say so many times a second.
logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
# A connection that one test leaves open is told of when it is collected, in the middle of any later test's output.
logging.getLogger("asyncio").setLevel(logging.CRITICAL)


# Tests start many programs; each would compile all of the project again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is printed is compared, however wide the terminal is that the tests are run in.
os.environ["COLUMNS"] = "80"

# A judge behind a stub is put to no self-test, unless the test is about that.
os.environ["ASSAY_JUDGE__FORM"] = "short"
os.environ["ASSAY_JUDGE__THRESHOLD"] = "0"

# Tests share the cores among themselves: a model that waits for a second core is many times slower than on one.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Whatever the settings say.
os.environ.setdefault("OMP_THREAD_LIMIT", "1")

# Classes of transformers look for it as they are imported. Nothing here compiles for a GPU, and a process that has
# imported it prints a page at its end about what its bindings leaked.
sys.modules.setdefault("triton", None)

# A busy machine is no fault of the code. A law that needs more examples says so. The examples are the same at every
# run, so that what lands has passed what is run again; `--hypothesis-profile=search` draws others.
search = settings(deadline=None, max_examples=25, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", search)
settings.register_profile("assay", search, derandomize=True)
settings.load_profile("assay")

_until_the_end = ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _until_the_end.enter_context(shared_servers())


def pytest_unconfigure() -> None:
    _until_the_end.close()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among modules and tests, which stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """More than there are cores: tests with a broker wait for half of their time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return cores + 2


# One process that loads torch is enough, and one that makes what a module's tests share.
_TORCH = "tests/models/grounding/"
_TOGETHER = ("tests/attacks/", "tests/checkers/", "tests/deploy/", "tests/lab/", "tests/models/", "tests/schemas/")
_TOGETHER += ("tests/store/", "tests/web/", "tests/streams/test_secured_kafka.py")


# Whatever takes long begins early, so that no process of the run is left alone with it at the end.
_EARLY = ("tests/agents/", "tests/assay/", "tests/attacks/", "tests/docs/test_readme.py", "tests/lab/", "tests/models/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(_EARLY))
    for item in items:
        if item.nodeid.startswith(_TORCH):
            item.add_marker(pytest.mark.xdist_group("torch"))
        elif item.nodeid.startswith(_TOGETHER):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Take back what a command run in this process did to the logs, which the next test may look at."""
    root, chatty = logging.getLogger(), {}
    for name in ("faust", "mode", "aiokafka", "httpx", "streams.faust_app"):
        chatty[name] = logging.getLogger(name).level
    handlers = root.handlers[:]
    # A fixture of a whole module may have run a command before.
    root.setLevel(logging.WARNING)
    logging.getLogger("assay").disabled = False
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(logging.WARNING)
    for name, before in chatty.items():
        logging.getLogger(name).setLevel(before)


@pytest.fixture(scope="session")
def kafka() -> str:
    """The address of an Apache Kafka: the one that `ASSAY_TEST_KAFKA` names, else one that the run shares."""
    return os.environ.get(ADDRESS_VARIABLE) or shared_server("kafka", _started_kafka)


@pytest.fixture
def own_kafka() -> Iterator[KafkaBroker]:
    """A broker of the test's own, that it may stop, kill and start."""
    with running_kafka() as broker:
        yield broker


@pytest.fixture
def place(kafka: str, tmp_path: Path) -> Place:
    """Topics of the test's own on Apache Kafka."""
    return Place(kafka, _prefix(), tmp_path)


@pytest.fixture
def prepared(place: Place) -> Place:
    """The same, and the topics are created."""
    place.prepare(place.settings())
    return place


@pytest.fixture(scope="session")
def embedded() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def embedded_place(embedded: EmbeddedBroker, tmp_path: Path) -> Place:
    """Topics of the test's own on the embedded broker."""
    place = Place(embedded.bootstrap_servers, _prefix(), tmp_path)
    embedded.create_topics(place.checked().topics.all)
    return place


@pytest.fixture(scope="session")
def postgres() -> Postgres:
    """A server that the run shares."""
    return Postgres(int(shared_server("postgres", _started_postgres)))


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Stored]:
    """A store of the test's own in a file."""
    stored = Stored(f"sqlite:///{tmp_path}/verdicts.db")
    yield stored
    stored.close()


@pytest.fixture
def postgresql_store(postgres: Postgres) -> Iterator[Stored]:
    """A store of the test's own in a database."""
    with postgres.database(_prefix(), pgvector=False) as url:
        stored = Stored(url)
        yield stored
        stored.close()


@pytest.fixture
def unconfigured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no ASSAY_ variables."""
    for name in list(os.environ):
        if name.startswith("ASSAY_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _started_kafka(folder: Path) -> tuple[str, int]:
    broker = KafkaBroker(folder)
    return broker.bootstrap_servers, broker.start()


def _started_postgres(folder: Path) -> tuple[str, int]:
    server = OwnPostgres(folder)
    return str(server.port), server.start()


def _prefix() -> str:
    return f"t{uuid.uuid4().hex[:10]}"


READ = KeptTest.read


@pytest.fixture(autouse=True)
def _self_test_on_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model has passed its self-test in the short form, and matches texts itself."""
    outcomes = tuple(PairOutcome("number", supported, 5.0 if supported else -5.0) for supported in (True, False))
    passed = FormResult("short", 0.0, outcomes)

    def read(test: KeptTest[Any]) -> object:
        if test.form == list[MethodResult]:
            return READ(test)
        *_, forms = test.depends_on
        if isinstance(forms, list):
            return [passed] if "short" in forms else None
        return 1.0, 0.0

    monkeypatch.setattr(KeptTest, "read", read)
