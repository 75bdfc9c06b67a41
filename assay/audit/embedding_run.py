"""From the names of models to figures: one model after the other, each sentence encoded once."""

import sys
from collections.abc import Callable, Sequence

from assay.audit.source import Material
from assay.progress import progress
from checkers.oracle.settings import EndpointSettings
from checkers.retrieval.audit.cases import Figure, Metric
from checkers.retrieval.audit.embeddings import embedding_figures, sentences_of
from checkers.retrieval.audit.encoding import Encodings, EndpointModel, SentenceTransformerModel, encoded
from checkers.wording import plain

Model = SentenceTransformerModel | EndpointModel


class Models:
    """Embedding models by name; one is in memory at a time."""

    def __init__(self, names: Sequence[str], endpoint: EndpointSettings) -> None:
        """Load each once: a wrong name is told before a judge is paid, or the other models have worked for hours.

        What is called `openai:NAME` is behind the endpoint.

        Raises:
            ModelUnusable: a model cannot be loaded.
        """
        self.names = tuple(dict.fromkeys(names))
        self._endpoint = endpoint
        self._last: Model | None = None
        self._last_name = ""
        # The first is the last to be loaded, and there when it is asked for.
        for name in reversed(self.names):
            self.get(name)

    def get(self, name: str) -> Model:
        """The model of this name."""
        if self._last is None or self._last_name != name:
            self._last = None
            self._last, self._last_name = self._loaded(name), name
        return self._last

    def _loaded(self, name: str) -> Model:
        kind, _, model = name.partition(":")
        return EndpointModel(model, self._endpoint) if kind == "openai" and model else SentenceTransformerModel(name)


def audit_models(
    models: Models, material: Material, metrics: Sequence[Metric], on_figures: Callable[[Sequence[Figure]], object]
) -> None:
    """Tell figures for every relation and metric, in that order, as soon as a model is done.

    Raises:
        ModelUnusable: a model gives no vectors.
        EndpointAway: the endpoint of one is down.
    """
    for name in models.names:
        on_figures(_audited(models.get(name), material, metrics))


def encode_all(model: Model, material: Material) -> Encodings:
    """The vectors of all sentences that an audit needs, and what they cost said.

    Raises:
        ModelUnusable: the model gives no vectors.
        EndpointAway: its endpoint is down.
    """
    total = len(set(sentences_of(material.groups)))
    with progress(bar=sys.stderr.isatty(), total=total) as shown:

        def told(done: int) -> None:
            shown.at(done, f"{plain(model.name)}: {done} of {total} sentences")

        encodings = encoded(model, sentences_of(material.groups), told)
        if isinstance(model, EndpointModel):
            shown.say(f"{plain(model.name)}: {model.calls} calls, {model.tokens} tokens")
    return encodings


def _audited(model: Model, material: Material, metrics: Sequence[Metric]) -> list[Figure]:
    encodings = encode_all(model, material)
    return list(embedding_figures(model.name, encodings, material.groups, metrics))
