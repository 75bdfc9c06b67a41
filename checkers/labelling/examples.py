"""Files of datapoints to show to a labeller, or to let it pick from."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

from checkers.labelling.values import from_json
from schemas.evidence import Label
from schemas.reading import explain


def _several(given: Any) -> Any:
    return [given] if isinstance(given, str) else given or []


class Exemplar(BaseModel):
    """A datapoint of the same kind, with its label if that is known."""

    model_config = ConfigDict(frozen=True)

    x: JsonValue
    label: Label | None = Field(None, alias="y")
    reasons: Annotated[tuple[Annotated[str, StringConstraints(pattern=r"\S")], ...], BeforeValidator(_several)] = ()
    """Why it has that label, criterion by criterion; none if they are not known. A single one may be a text."""


def load_examples(path: Path) -> tuple[Exemplar, ...]:
    """The examples of a file of JSON lines, `{"x": datapoint, "y": label, "reasons": [text, ...]}`.

    y and reasons may be left out.

    Raises:
        ValueError: it cannot be read, holds anything else, or nothing; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise ValueError(f"{path}: holds no datapoint")
    return tuple(_example(line, f"{path}:{number}") for number, line in lines)


def _example(line: str, place: str) -> Exemplar:
    try:
        return Exemplar.model_validate(from_json(line))
    except ValidationError as error:
        allowed = '{"x": datapoint, "y": label, "reasons": [text, ...]}, y and reasons optional'
        raise ValueError(f"{place}: {explain(error)}; expected {allowed}") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
