"""A real Prometheus and a real Alertmanager on loopback, hurried, and something that collects what they tell.

    with receiving_alerts() as inbox, running_alertmanager(tmp_path, inbox.url) as alertmanager:
        with running_prometheus(tmp_path, [f"127.0.0.1:{worker.port}"], alertmanager) as prometheus:
            alert = inbox.wait_for("AssayTrustDrop", model="phi-2")

Both run on the files of `deploy/`, with other addresses and shorter times: scraped and evaluated every second, alerts
without their `for`, notifications at once. The windows of the expressions stay as they are. The programs are those of
Debian's packages: `make test-system`.
"""

import asyncio
import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from aiohttp import web

from tests.support.ports import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"


@dataclass(frozen=True, kw_only=True)
class ReceivedAlert:
    """One alert of a notification; its receiver is `pager` or `team`, its status `firing` or `resolved`."""

    receiver: str
    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class Inbox:
    """The alerts that Alertmanager has posted so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        """Receivers post to paths below it."""
        self.alerts: list[ReceivedAlert] = []

    def of(self, name: str, *, status: str = "firing", **labels: str) -> list[ReceivedAlert]:
        """The alerts with this name, status and these labels, as often as they were told."""
        return [
            alert
            for alert in self.alerts
            if alert.status == status and (labels | {"alertname": name}).items() <= alert.labels.items()
        ]

    def wait_for(self, name: str, *, status: str = "firing", **labels: str) -> ReceivedAlert:
        """The first such alert, once it is there."""
        return wait_until(lambda: self.of(name, status=status, **labels), lambda: f"no {name}: {self.alerts}")[0]


class Alertmanager:
    def __init__(self, url: str) -> None:
        self.url = url

    def post(self, *alerts: Mapping[str, Any]) -> None:
        """Alerts as a client of its own posts them."""
        httpx.post(f"{self.url}/api/v2/alerts", json=alerts).raise_for_status()

    def alerts(self) -> list[dict[str, Any]]:
        """Those that it holds, inhibited ones included."""
        found: list[dict[str, Any]] = httpx.get(f"{self.url}/api/v2/alerts").raise_for_status().json()
        return found


class Prometheus:
    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The labels and values of an instant vector."""
        answer = httpx.post(f"{self.url}/api/v1/query", data={"query": expression})
        assert answer.status_code == 200, f"{expression}: {answer.text}"
        return [(each["metric"], float(each["value"][1])) for each in answer.json()["data"]["result"]]

    def wait_for(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The vector of an expression, once it is not empty."""
        return wait_until(lambda: self.query(expression), lambda: f"nothing for {expression}")


@contextlib.contextmanager
def receiving_alerts() -> Iterator[Inbox]:
    """Takes notifications on loopback, from a thread of its own."""
    inbox = Inbox("")

    async def take(request: web.Request) -> web.Response:
        receiver = request.path.strip("/")
        for alert in (await request.json())["alerts"]:
            told = {key: alert[key] for key in ("status", "labels", "annotations")}
            inbox.alerts.append(ReceivedAlert(receiver=receiver, **told))
        return web.Response()

    with _serving([web.post("/{receiver}", take)]) as port:
        inbox.url = f"http://127.0.0.1:{port}"
        yield inbox


@contextlib.contextmanager
def exporting(text: Callable[[], str]) -> Iterator[str]:
    """Serves metrics in Prometheus' text format; yields `host:port`."""

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(text=text(), content_type="text/plain")

    with _serving([web.get("/metrics", metrics)]) as port:
        yield f"127.0.0.1:{port}"


@contextlib.contextmanager
def running_alertmanager(folder: Path, receiver_url: str) -> Iterator[Alertmanager]:
    """An Alertmanager with the deployed routes and inhibitions, that posts below `receiver_url` at once."""
    document = yaml.safe_load((DEPLOY / "alertmanager" / "alertmanager.yml").read_text("utf-8"))
    for route in (document["route"], *document["route"]["routes"]):
        route |= {"group_wait": "0s", "group_interval": "1s"}
    for receiver in document["receivers"]:
        receiver["webhook_configs"] = [{"url": f"{receiver_url}/{receiver['name']}"}]
    here = folder / "alertmanager"
    here.mkdir()
    config = here / "alertmanager.yml"
    config.write_text(yaml.safe_dump(document), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    command = [
        "prometheus-alertmanager",
        f"--config.file={config}",
        f"--storage.path={here / 'data'}",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    ]
    with _running(command, here / "log", f"http://{address}/-/ready"):
        yield Alertmanager(f"http://{address}")


@contextlib.contextmanager
def running_prometheus(
    folder: Path, targets: Sequence[str], alertmanager: Alertmanager | None = None, *, patient: bool = False
) -> Iterator[Prometheus]:
    """A Prometheus with the deployed rules, that scrapes `targets` as the workers; a `patient` one keeps `for`."""
    here = folder / "prometheus"
    rules = here / "rules"
    rules.mkdir(parents=True)
    for file in sorted((DEPLOY / "prometheus" / "rules").glob("*.yml")):
        (rules / file.name).write_text(yaml.safe_dump(_hurried(file, patient=patient)), encoding="utf-8")
    document = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    document["global"] |= {"scrape_interval": "1s", "evaluation_interval": "1s"}
    document["scrape_configs"] = [{"job_name": "assay", "static_configs": [{"targets": list(targets)}]}]
    where = [alertmanager.url.removeprefix("http://")] if alertmanager else []
    document["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": where}]}]}
    config = here / "prometheus.yml"
    config.write_text(yaml.safe_dump(document), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={here / 'data'}",
        f"--web.listen-address={address}",
        "--rules.alert.resend-delay=1s",
        "--log.level=warn",
    ]
    with _running(command, here / "log", f"http://{address}/-/ready"):
        yield Prometheus(f"http://{address}")


def _hurried(file: Path, *, patient: bool) -> dict[str, Any]:
    """A rule file whose groups are evaluated as often as can be, and whose alerts wait for nothing unless `patient`."""
    document: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    for group in document["groups"]:
        group.pop("interval", None)
        for rule in group["rules"]:
            if not patient:
                rule.pop("for", None)
    return document


@contextlib.contextmanager
def _running(command: Sequence[str], log: Path, ready: str) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)

    def up() -> bool:
        assert process.poll() is None, f"{command[0]} ended with {process.returncode}:\n{log.read_text()[-3000:]}"
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(ready).status_code == 200
        return False

    try:
        wait_until(up, lambda: f"{command[0]} is not ready:\n{log.read_text()[-3000:]}")
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _serving(routes: Sequence[web.RouteDef]) -> Iterator[int]:
    """Serves HTTP from a thread of its own, so that a test that waits does not hold it up; yields the port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    app = web.Application(client_max_size=4 * 1024**2)
    app.add_routes(routes)
    runner = web.AppRunner(app, shutdown_timeout=1)

    async def start() -> int:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return int(runner.addresses[0][1])

    try:
        yield asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE_SECONDS)
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(PATIENCE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
