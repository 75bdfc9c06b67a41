"""The model's window: how much of it a question takes, and what is learned of it from answers and refusals."""

import structlog

from models.protocol import Message, WindowExceeded
from models.refusals import Refusal

_LOG = structlog.get_logger(__name__)

_OF_A_TURN = 8
"""Tokens around each turn: role and separators of the chat template."""
_CHARACTERS_OF_A_TOKEN = 2.5
"""Of ASCII: JSON, code and figures have so many, English prose four; what is counted soon corrects that."""
_BYTES_OF_A_TOKEN = 2
"""Of other characters in UTF-8: most scripts have more; those that a model hardly knows have one or two."""

_FOR_THE_REPLY = 4
"""At least one in so many tokens of the window is left to the reply."""

_LOWEST = 0.6
"""The estimate is not lowered beyond this, whatever was counted: some endpoints count only what was not cached."""
_HIGHEST = 4.0
"""More than a token a character is seen nowhere."""
_MARGIN = 1.1
_DECLINE = 0.1
_TELLING = 200
"""Estimated tokens from which a count tells something: in shorter questions the template weighs more than the text."""
_CREDIBLE = 256
"""Tokens; no model has a smaller window, so a refusal that seems to tell of one was about something else."""
_NEXT = 0.8
"""Of what does not fit, at most this much is said to: also where the window's size is not known."""


class Window:
    """Belongs to one endpoint; without a size, everything fits."""

    def __init__(self, tokens: int | None, *, name: str) -> None:
        """`tokens` is the size, None if it is not known; `name` stands in logs."""
        self.tokens = tokens
        self._name = name
        self._ratio = 1.0
        """Tokens for each that is estimated."""

    def reply_tokens(self, messages: tuple[Message, ...], wanted: int | None, added: int) -> int | None:
        """The limit to send for the reply: `wanted`, or what the window leaves if that is less.

        `added` is the number of characters that are sent beside the messages.

        Raises:
            WindowExceeded: it leaves too little.
        """
        if self.tokens is None:
            return wanted
        prompt = self._ratio * _estimated(messages, added)
        left = int(self.tokens - prompt)
        if left < self._reserved(wanted):
            raise self.exceeded(messages, wanted, added)
        return None if wanted is None else min(wanted, left)

    def exceeded(self, messages: tuple[Message, ...], wanted: int | None, added: int) -> WindowExceeded:
        """The error for a question that does not fit."""
        characters = sum(len(message.content) for message in messages)
        fits, window = _NEXT * characters, "window"
        if self.tokens is not None:
            # What stands around the texts stays when they are cut.
            around = _OF_A_TURN * len(messages) + added / _CHARACTERS_OF_A_TOKEN
            left = (self.tokens - self._reserved(wanted)) / self._ratio - around
            fits = min(fits, characters * left / max(_estimated(messages, 0), 1))
            window = f"window of {self.tokens} tokens"
        return WindowExceeded(
            f"the question, of {characters} characters, is longer than the model's {window} allows",
            characters=max(int(fits), 0),
        )

    def count(self, messages: tuple[Message, ...], prompt_tokens: int, added: int) -> None:
        """Compare the estimate with what the endpoint counted (0: nothing): it rises at once, and declines slowly."""
        if self.tokens is None or not prompt_tokens:
            return
        estimated = _estimated(messages, added)
        if estimated >= _TELLING:
            found = _bounded(_MARGIN * prompt_tokens / estimated)
            self._ratio = max(found, self._ratio + (found - self._ratio) * _DECLINE)

    def refused(self, messages: tuple[Message, ...], reply_tokens: int | None, added: int, refusal: Refusal) -> None:
        """Learn from a refusal because of the question's length; as it was sent, it is not taken to fit again."""
        known = self.tokens
        estimated = _estimated(messages, added)
        told = refusal.window or int(_NEXT * self._ratio * estimated)
        if told < _CREDIBLE:
            return
        self.tokens = min(told, known or told)
        if refusal.prompt_tokens is not None:
            self._ratio = _bounded(_MARGIN * refusal.prompt_tokens / estimated)
        elif self._ratio * estimated + (reply_tokens or 0) <= self.tokens:
            self._ratio = _bounded((self.tokens - self._reserved(reply_tokens) + 1) / estimated)
        if self.tokens != known:
            _LOG.info("oracle_window_learned", oracle=self._name, tokens=self.tokens)

    def _reserved(self, wanted: int | None) -> int:
        """Tokens that a reply must have at least."""
        share = (self.tokens or 0) // _FOR_THE_REPLY
        return share if wanted is None else min(share, wanted)


def _bounded(ratio: float) -> float:
    return min(max(ratio, _LOWEST), _HIGHEST)


def _estimated(messages: tuple[Message, ...], added: int) -> float:
    """Tokens that the messages take, rather too many than too few."""
    return added / _CHARACTERS_OF_A_TOKEN + sum(_OF_A_TURN + _estimated_in(message.content) for message in messages)


def _estimated_in(text: str) -> float:
    if text.isascii():
        return len(text) / _CHARACTERS_OF_A_TOKEN
    ascii_bytes = len(text.encode("ascii", "ignore"))
    others = len(text.encode("utf-8", "surrogatepass")) - ascii_bytes
    return ascii_bytes / _CHARACTERS_OF_A_TOKEN + others / _BYTES_OF_A_TOKEN
