"""The placeholder receiver: prints every alert that Alertmanager posts, as a JSON line, and keeps nothing.

`python print_alerts.py [PORT]` listens on all addresses; the path (`/pager`, `/team`) tells the receivers apart. Only
Python's own library, so that any image with Python runs it. Replace it by a real receiver: docs/operations.md.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BYTES = 4_000_000
"""More than a group of alerts with ten rejected records each takes."""


class Handler(BaseHTTPRequestHandler):
    """One notification a request."""

    timeout = 10

    def do_GET(self) -> None:
        """Say that it is alive."""
        self._answer(200, "ok")

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

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until ended."""
    with ThreadingHTTPServer(("", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler) as server:
        sys.stdout.write(f"listening on port {server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
