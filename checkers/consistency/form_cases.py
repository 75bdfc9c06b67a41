"""A built-in case of the question to the writer: a sentence with a wrong figure."""

from collections.abc import Iterator

from checkers.consistency.rewriter import ImproverQuestions
from checkers.form_test import FormCase
from schemas import Generation, SentenceFinding

_PASSAGE = "The ferry to Sarn leaves at 8 and at 17. A ticket costs 6 crowns. Dogs travel free."
_WRONG = "A ticket costs 9 crowns."


def form_cases(method: str) -> Iterator[FormCase]:
    """A rewrite."""
    response = f"The ferry leaves at 8. {_WRONG}"
    fields = {"id": "1", "kind": "generation", "source": "built-in", "model": "built-in", "task": "answer"}
    record = Generation.model_validate({**fields, "response": response, "contexts": [_PASSAGE]})
    place = {"start": response.index(_WRONG), "end": len(response), "text": _WRONG}
    fault = SentenceFinding.model_validate({**place, "mark": -1, "support": 0.1, "reason": "the passages say 6 crowns"})
    question = ImproverQuestions().about(record, _PASSAGE, fault)
    yield FormCase(method, "writer", question, lambda reply: "6" in reply.improved and "9" not in reply.improved)
