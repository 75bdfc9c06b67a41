"""The digest of a question or of claims: what the cache and recordings know it by."""

import hashlib
from functools import lru_cache
from typing import Any

import orjson
from pydantic import BaseModel

from models.protocol import Grading, Question, Sampling


def request_digest(request: Question[Any] | Grading | Sampling[Any]) -> str:
    """Digest (256 bits, hex) of all that bears on the answer: messages, form, limits, probability; or the claims.

    Two requests that differ in any of it have different digests; the model's name is not part of it.
    """
    parts: tuple[object, ...]
    if isinstance(request, Grading):
        parts = (request.task, request.claims)
    elif isinstance(request, Sampling):
        parts = (request_digest(request.question), request.first, request.count)
    else:
        form: type[BaseModel] = request.reply
        parts = (
            request.task,
            request.prompt_version,
            [(message.role, message.content) for message in request.messages],
            _form_digest(form),
            request.max_tokens,
            *([request.graded] if request.graded else []),
            *([request.banned_tokens] if request.banned_tokens else []),
        )
    try:
        data = orjson.dumps(parts)
    except TypeError:  # lone surrogates: no text for an endpoint, but the local judge and the caller may ask
        data = repr(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=32).hexdigest()


@lru_cache(maxsize=256)
def _form_digest(form: type[BaseModel]) -> str:
    schema = orjson.dumps(form.model_json_schema(), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(schema).hexdigest()
