"""The placeholder receiver: prints every alert that Alertmanager posts, as a JSON line, and shows the runbook.

`python print_alerts.py [PORT]` listens on this machine alone, `--host 0.0.0.0` on all addresses, for a container. The
path (`/pager`, `/team`) tells the receivers apart; `/runbook` is docs/runbook.md. Only Python's own library, so that
any image with Python runs it. Replace it by a real receiver: docs/deploying.md.
"""

import argparse
import html
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

RUNBOOK = Path(__file__).resolve().parent / "../../docs/runbook.md"

MAX_BYTES = 4_000_000
"""More than a group of alerts with ten rejected records each takes."""


class Handler(BaseHTTPRequestHandler):
    """One notification a request."""

    timeout = 10

    def do_GET(self) -> None:
        """Show the runbook, or say that it is alive."""
        if self.path != "/runbook":
            self._answer(200, "ok")
        elif RUNBOOK.is_file():
            self._answer(200, _page(RUNBOOK.read_text("utf-8")), "text/html")
        else:
            self._answer(404, "docs/runbook.md is not next to deploy/")

    def do_POST(self) -> None:
        """Print the alerts of a notification; 400 says what is wrong with one that is none."""
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            self._answer(400, f"a Content-Length of at most {MAX_BYTES} is needed")
            return
        try:
            lines = [self._line(alert) for alert in json.loads(self.rfile.read(int(length)))["alerts"]]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._answer(400, f"not a notification of Alertmanager: {type(error).__name__}: {error}")
            return
        # Escapes control characters too: what an alert quotes was written by a model.
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
        self._answer(200, "ok")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing: the alerts are the log."""

    def _line(self, alert: dict[str, object]) -> str:
        told = {key: alert[key] for key in ("status", "startsAt", "labels", "annotations")}
        return json.dumps({"receiver": self.path.strip("/"), **told})

    def _answer(self, status: int, text: str, kind: str = "text/plain") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", f"{kind}; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _page(markdown: str) -> str:
    def heading(found: re.Match[str]) -> str:
        return f'<b id="{found[1].lower().replace(" ", "-")}">{found[0]}</b>'

    text = re.sub(r"^#+ (.+)$", heading, html.escape(markdown), flags=re.MULTILINE)
    return f'<!doctype html><title>Runbook</title><pre style="white-space: pre-wrap">{text}</pre>'


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(description="Print the alerts that Alertmanager posts, and show the runbook.")
    parser.add_argument("port", nargs="?", type=int, default=8080)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; default: %(default)s")
    given = parser.parse_args()
    with ThreadingHTTPServer((given.host, given.port), Handler) as server:
        sys.stdout.write(f"listening on port {server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
