"""What somebody who means harm sends: OTLP that is broken."""

import random

from tests.support.otlp import as_json, chat, span, traces


def broken_messages(draw: random.Random, number: int) -> list[bytes]:
    """Requests of spans, protobuf and JSON, with bytes exchanged, left out and put in."""
    requests = [traces(span(7, chat())), traces(span(7, chat(**{"gen_ai.output.messages": '[{"role": "assist'})))]
    forms = [encoded for request in requests for encoded in (as_json(request), request.SerializeToString())]
    return [_broken(draw, draw.choice(forms)) for _ in range(number)]


def _broken(draw: random.Random, message: bytes) -> bytes:
    broken = bytearray(message)
    for _ in range(draw.choice([1, 2, 5])):
        at = draw.randrange(len(broken))
        match draw.randrange(3):
            case 0:
                broken[at] = draw.randrange(256)
            case 1:
                del broken[at : at + draw.randrange(9)]
            case _:
                broken[at:at] = draw.randbytes(draw.randrange(9))
    return bytes(broken)
