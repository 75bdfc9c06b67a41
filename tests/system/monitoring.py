"""A real Prometheus and a real Alertmanager on loopback, hurried, and something that collects what they tell.

    with receiving_alerts() as inbox, running_alertmanager(tmp_path, inbox.url) as alertmanager:
        with running_prometheus(tmp_path, [f"127.0.0.1:{worker.port}"], alertmanager) as prometheus:
            alert = inbox.wait_for("AssayTrustDrop", model="phi-2")

Both run on the files of `deploy/`, with other addresses and shorter times: scraped and evaluated every second, alerts
without their `for`, notifications at once. The windows of the expressions stay as they are. The programs are those of
Debian's packages: `make test-system`.
"""

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import yaml

from tests.support.ports import PLAIN, free_port
from tests.support.waiting import wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"


class ReceivedAlert(NamedTuple):
    """One alert of a notification; its receiver is `pager` or `team`, its status `firing` or `resolved`."""

    receiver: str
    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class Inbox:
    """The alerts that Alertmanager has posted so far."""

    url = ""
    """Receivers post to paths below it."""

    def __init__(self) -> None:
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
        httpx.post(f"{self.url}/api/v2/alerts", json=alerts, verify=PLAIN).raise_for_status()

    def alerts(self) -> list[dict[str, Any]]:
        """Those that it holds, inhibited ones included."""
        found: list[dict[str, Any]] = httpx.get(f"{self.url}/api/v2/alerts", verify=PLAIN).raise_for_status().json()
        return found


class Prometheus:
    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The labels and values of an instant vector."""
        answer = httpx.post(f"{self.url}/api/v1/query", data={"query": expression}, verify=PLAIN)
        assert answer.status_code == 200, f"{expression}: {answer.text}"
        return [(each["metric"], float(each["value"][1])) for each in answer.json()["data"]["result"]]

    def wait_for(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The vector of an expression, once it is not empty."""
        return wait_until(lambda: self.query(expression), lambda: f"nothing for {expression}")


@contextlib.contextmanager
def receiving_alerts() -> Iterator[Inbox]:
    """Takes notifications on loopback, from a thread of its own."""
    inbox = Inbox()

    class Taking(_Quiet):
        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"]
            inbox.alerts += [
                ReceivedAlert(self.path.strip("/"), one["status"], one["labels"], one["annotations"]) for one in told
            ]
            self.send_response(200)
            self.end_headers()

    with _serving(Taking) as address:
        inbox.url = f"http://{address}"
        yield inbox


@contextlib.contextmanager
def exporting(text: Callable[[], str]) -> Iterator[str]:
    """Serves metrics in Prometheus' text format; yields `host:port`."""

    class Exporting(_Quiet):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text().encode())

    with _serving(Exporting) as address:
        yield address


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
            return httpx.get(ready, verify=PLAIN).status_code == 200
        return False

    try:
        wait_until(up, lambda: f"{command[0]} is not ready:\n{log.read_text()[-3000:]}")
        yield
    finally:
        process.kill()
        process.wait()


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as it is called
        pass


@contextlib.contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serves HTTP from threads of its own, so that a test that waits does not hold it up; yields `host:port`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
