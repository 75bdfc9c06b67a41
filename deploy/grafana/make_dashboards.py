"""Write the dashboards: `python deploy/grafana/make_dashboards.py [FOLDER]`, by default `dashboards` beside this file.

What is written is committed; a test holds it to what this script writes.
"""

import sys
from pathlib import Path

from by_checker import by_checker
from cost import cost
from overview import overview


def main() -> None:
    """Write them all."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "dashboards"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in {"overview": overview, "checker": by_checker, "cost": cost}.items():
        (folder / f"{name}.json").write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
