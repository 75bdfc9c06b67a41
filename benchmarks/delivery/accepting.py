"""A worker with a checker that does nothing, which `cost` measures."""

import json
import sys
from typing import Any

from agents.checker_agent import checker_agent
from agents.routing import Routing, RoutingSettings
from agents.worker import Worker, run
from streams.logs import configure_logs
from streams.settings import StreamSettings
from tests.support.checkers import Accept


def main(spec: dict[str, Any]) -> int:
    """Check `share` of the records as `checker`, with `settings`."""
    configure_logs("WARNING")
    settings = StreamSettings.model_validate(spec["settings"])
    rules = () if spec["share"] == 1 else ({"share": spec["share"]},)

    async def factory() -> Worker:
        routing = Routing(RoutingSettings.model_validate({"rules": rules}))
        return Worker([checker_agent(Accept(spec["checker"]), routing=routing)], settings)

    return run(factory)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
