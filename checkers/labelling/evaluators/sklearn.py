"""Labels from a fitted scikit-learn classifier; scikit-learn itself is not imported here."""

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from checkers.canonical import canonical
from checkers.labelling.evaluators.composed import Labelled
from checkers.labelling.protocol import EvaluatorFailed, Turn

_KEPT = 65_536


class Classifier(Protocol):
    """What is used of a scikit-learn classifier."""

    def predict(self, features: Sequence[Sequence[float]], /) -> Any:
        """A label, 0 or 1, for each row."""


class SklearnLabeller:
    """A classifier of two classes over the features of a datapoint."""

    def __init__(self, model: Classifier, features: Callable[[JsonValue], Sequence[float]]) -> None:
        """`features` gives a datapoint's row, and raises ValueError or TypeError for one that has none."""
        self._model = model
        self._features = features
        self._known: OrderedDict[str, int] = OrderedDict()

    async def label(self, x: JsonValue, turn: Turn) -> Labelled:
        """The predicted class.

        Raises:
            EvaluatorFailed: `x` has no features, or the class is not 0 or 1.
        """
        key = canonical(x)
        if key not in self._known:
            self._known[key] = self._predicted(x)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return Labelled(self._known[key])

    def _predicted(self, x: JsonValue) -> int:
        try:
            row = self._features(x)
        except (ValueError, TypeError) as error:
            raise EvaluatorFailed("subject_failed", f"the datapoint has no features: {type(error).__name__}") from None
        predicted = self._model.predict([row])[0]
        if predicted not in {0, 1}:
            raise EvaluatorFailed("subject_unusable", f"the classifier predicts {predicted!r}; expected 0 or 1")
        return int(predicted)


def decimal_feature(x: JsonValue) -> tuple[float]:
    """The paper's single feature: a string of bits read as a *decimal* number.

    Raises:
        TypeError: `x` is no string.
        ValueError: it is no finite number.
    """
    if not isinstance(x, str):
        raise TypeError(f"expected a string of digits, got {type(x).__name__}")
    number = float(x)
    if not math.isfinite(number):
        raise ValueError("expected a finite number")
    return (number,)
