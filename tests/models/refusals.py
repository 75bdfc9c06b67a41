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


def openai_messages(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"This model's maximum context length is {WINDOW} tokens. However, your messages resulted in {prompt} tokens. "
        "Please reduce the length of the messages."
    )
    error = {"message": message, "type": "invalid_request_error", "param": "messages"}
    return 400, {"error": {**error, "code": "context_length_exceeded"}}


def openai_reasoning(prompt: int, reply: int) -> tuple[int, Any]:
    message = "Your input exceeds the context window of this model. Please adjust your input and try again."
    error = {"message": message, "type": "invalid_request_error", "param": "input"}
    return 400, {"error": {**error, "code": "context_length_exceeded"}}


def azure(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"Input tokens exceed the configured limit of {WINDOW} tokens. Your messages resulted in {prompt} tokens. "
        "Please reduce the length of the messages."
    )
    error = {"message": message, "type": "invalid_request_error", "param": "messages"}
    return 400, {"error": {**error, "code": "context_length_exceeded"}}


def vllm(prompt: int, reply: int) -> tuple[int, Any]:
    message = _requested(prompt, reply)
    return 400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


def vllm_reply_too_long(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"'max_tokens' or 'max_completion_tokens' is too large: {reply}. This model's maximum context length is "
        f"{WINDOW} tokens and your request has {prompt} input tokens ({reply} > {WINDOW} - {prompt})."
    )
    return 400, {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}


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


def llama_cpp_older(prompt: int, reply: int) -> tuple[int, Any]:
    message = "the request exceeds the available context size. try increasing the context size or enable context shift"
    error = {"code": 500, "message": message, "type": "exceed_context_size_error"}
    return 500, {"error": {**error, "n_prompt_tokens": prompt, "n_ctx": WINDOW}}


def anthropic(prompt: int, reply: int) -> tuple[int, Any]:
    message = f"prompt is too long: {prompt} tokens > {WINDOW} maximum"
    return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def anthropic_with_reply(prompt: int, reply: int) -> tuple[int, Any]:
    message = f"input length and `max_tokens` exceed context limit: {prompt} + {reply} > {WINDOW}, decrease either"
    return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def mistral(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"Prompt contains {prompt} tokens and 0 draft tokens, too large for model with {WINDOW} maximum context length"
    )
    return 400, {"object": "error", "message": message, "type": "invalid_request_error", "param": None, "code": "3051"}


def google(prompt: int, reply: int) -> tuple[int, Any]:
    message = f"The input token count ({prompt}) exceeds the maximum number of tokens allowed ({WINDOW})."
    return 400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


def tgi(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {WINDOW}. Given: {prompt} `inputs` "
        f"tokens and {reply} `max_new_tokens`"
    )
    return 422, {"error": message, "error_type": "validation"}


def groq(prompt: int, reply: int) -> tuple[int, Any]:
    message = (
        "Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): "
        f"Limit {WINDOW}, Requested {prompt + reply}, please reduce your message size and try again."
    )
    return 413, {"error": {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}}


def proxy(prompt: int, reply: int) -> tuple[int, Any]:
    return 413, "<html><head><title>413 Request Entity Too Large</title></head></html>"


TOO_LONG = (
    openai, openai_messages, openai_reasoning, azure, vllm, vllm_newer, llama_cpp, llama_cpp_older,
    anthropic, anthropic_with_reply, mistral, google, tgi, groq, proxy,
)  # fmt: skip

COUNTS_THE_REPLY = (openai, vllm, vllm_newer, vllm_reply_too_long, anthropic_with_reply, tgi)

FILTERED = {
    "azure": (
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management "
                "policy. Please modify your prompt and retry.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {
                    "code": "ResponsibleAIPolicyViolation",
                    "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
                },
            }
        },
    ),
    "azure, in the inner error only": (
        400,
        {"error": {"message": "Bad request", "code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
    ),
    "openai": (
        400,
        {"error": {"message": "Your request was rejected.", "param": None, "code": "content_policy_violation"}},
    ),
    "alibaba": (
        400,
        {"error": {"message": "Input data may contain inappropriate content.", "code": "data_inspection_failed"}},
    ),
}
