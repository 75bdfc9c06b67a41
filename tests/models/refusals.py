"""Replies of model servers when a question is longer than their window, or a filter keeps it back: status and body."""

from typing import Any

WINDOW = 2048
"""Tokens of the servers below."""


def _requested(prompt: int, reply: int) -> str:
    return (
        f"This model's maximum context length is {WINDOW} tokens. However, you requested {prompt + reply} tokens "
        f"({prompt} in the messages, {reply} in the completion). Please reduce the length of the messages or "
        "completion."
    )


def openai(prompt: int, reply: int) -> tuple[int, Any]:
    error = {"message": _requested(prompt, reply), "type": "invalid_request_error", "param": "messages"}
    return 400, {"error": {**error, "code": "context_length_exceeded"}}


def vllm(prompt: int, reply: int) -> tuple[int, Any]:
    message = _requested(prompt, reply)
    return 400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


def vllm_newer(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"You passed {prompt} input tokens and requested {reply} output tokens. However, the model's context length "
        f"is only {WINDOW} tokens, resulting in a maximum input length of {WINDOW - reply} tokens. Please reduce the "
        f"length of the input prompt. (parameter=input_tokens, value={prompt})"
    )
    return 400, {"error": {"message": message, "type": "BadRequestError", "param": "input_tokens", "code": 400}}


def llama_cpp(prompt: int, reply: int) -> tuple[int, Any]:
    message = f"request ({prompt} tokens) exceeds the available context size ({WINDOW} tokens), try increasing it"
    error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
    return 400, {"error": {**error, "n_prompt_tokens": prompt, "n_ctx": WINDOW}}


def anthropic(prompt: int, reply: int) -> tuple[int, Any]:
    message = f"prompt is too long: {prompt} tokens > {WINDOW} maximum"
    return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def google(prompt: int, reply: int) -> tuple[int, Any]:
    message = f"The input token count ({prompt}) exceeds the maximum number of tokens allowed ({WINDOW})."
    return 400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


def tgi(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {WINDOW}. Given: {prompt} `inputs` "
        f"tokens and {reply} `max_new_tokens`"
    )
    return 422, {"error": message, "error_type": "validation"}


def proxy(prompt: int, reply: int) -> tuple[int, Any]:
    return 413, "<html><head><title>413 Request Entity Too Large</title></head></html>"


TOO_LONG = (openai, vllm, vllm_newer, llama_cpp, anthropic, google, tgi, proxy)
COUNTS_THE_REPLY = (openai, vllm_newer, tgi)

FILTERED = {
    "azure, in the inner error only": (
        400,
        {"error": {"message": "Bad request", "code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
    ),
    "openai": (400, {"error": {"message": "It was rejected.", "param": None, "code": "content_policy_violation"}}),
}
