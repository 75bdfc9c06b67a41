"""The digest of a question: what the cache and recordings know it by."""

import hashlib
from functools import lru_cache
from typing import Any

import orjson
from pydantic import BaseModel

from checkers.oracle.protocol import Question


def question_digest(question: Question[Any]) -> str:
    """Digest (256 bits, hex) of all that bears on the answer: task, messages, the reply's form, limit, claims.

    Two questions that differ in any of it have different digests; the model's name is not part of it.
    """
    claims = question.claims
    form: type[BaseModel] = question.reply
    parts = (
        question.task,
        question.prompt_version,
        [(message.role, message.content) for message in question.messages],
        _form_digest(form),
        question.max_tokens,
        claims and (claims.reference, claims.sentences, claims.task, claims.prompt),
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
