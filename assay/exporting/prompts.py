"""What a model was asked, as far as its record tells: the user's turn of an example for fine-tuning."""

from schemas import Generation, Task

_INSTRUCTIONS: dict[Task, str] = {
    "summary": "Summarise this text.",
    "answer": "Answer from these passages.",
    "paraphrase": "Say this in other words.",
}


def prompt_of(record: Generation) -> str | None:
    """The record's prompt with what belongs to it, or one made from its task and texts, or None where none can be made.

    Texts that the prompt quotes already are not repeated. The reference of an answer is the true answer, and would
    give it away; it is left out, also where a prompt stands without a task, which may be either.
    """
    prompt = (record.prompt or "").strip()
    task = record.task if prompt else record.effective_task
    given = (*record.contexts, *((record.reference,) if record.reference and task in {"summary", "paraphrase"} else ()))
    texts = [text for text in given if text.strip() and text.strip() not in prompt]
    if not prompt:
        if not texts:
            return None
        prompt = _INSTRUCTIONS[record.effective_task]
    return "\n\n".join([prompt, *texts])
