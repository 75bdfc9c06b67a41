"""The templates, and what all of them have."""

from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from schemas import OUTCOMES
from schemas.base import BUNDLED_ACCURACY, is_bundled
from web import texts
from web.filters import RANGES
from web.rates import HEIGHT, SHOWN_FROM, WIDTH

_OF_TEXTS = (
    *(texts.visible, texts.plain, texts.shortened, texts.as_text),
    *(texts.clock, texts.ago, texts.percent, texts.points, texts.length_of),
)


def templates() -> Environment:
    """The page's templates."""
    found = Environment(
        loader=PackageLoader("web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {each.__name__: each for each in _OF_TEXTS}
    found.filters |= {
        "segment": lambda name: quote(name, safe=""),
        "sum_of": lambda numbers: sum(numbers.values()),
    }
    found.tests |= {"bundled": is_bundled}
    found.globals |= {
        "W": texts,
        "LONGEST": texts.LONGEST,
        "outcomes": OUTCOMES,
        "ranges": RANGES,
        "shown_from": SHOWN_FROM,
        "BUNDLED_ACCURACY": BUNDLED_ACCURACY,
        "width": WIDTH,
        "height": HEIGHT,
    }
    return found
