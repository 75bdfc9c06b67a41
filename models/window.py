"""The model's window: how much of it a question takes, and what is learned of it from answers and refusals."""

import structlog

from models.faults import SMALLEST_WINDOW, Refusal
from models.protocol import Message, WindowExceeded

_LOG = structlog.get_logger(__name__)

_OF_A_TURN = 8
"""Tokens around each turn: role and separators of the chat template."""
_CHARACTERS_OF_A_TOKEN = 2.5
"""ASCII characters a token: JSON, code and figures have so many, English prose four; the first answer corrects that."""
_BYTES_OF_A_TOKEN = 2
"""UTF-8 bytes a token, not ASCII: most scripts have more; those that a model hardly knows have one or two."""
_OF_PROSE = 0.625
"""Share of the estimate that English prose takes, where nothing was counted yet."""

_FOR_THE_REPLY = 4
"""At least one in so many tokens of the window is left to a reply of unknown length."""
_LOWEST, _HIGHEST = 0.6, 4.0
"""Bounds of the correction: some endpoints count only what was not cached; no text has a token for a quarter of a
character."""
_MARGIN = 1.08
_LEAST_COUNTED = 200
"""Estimated tokens from which a count is used: in shorter questions the template weighs more than the text."""
_NEXT = 0.8
"""At most this much of what does not fit is said to: also where the window's size is not known."""


class Window:
    """Belongs to one endpoint; without a size, everything fits."""

    def __init__(self, tokens: int | None, *, name: str) -> None:
        """`tokens` is the size, None if it is not known; `name` is for logs."""
        self.tokens = tokens
        self._name = name
        self._ratio = 1.0
        """Tokens for each that is estimated, with a margin."""
        self._counted = _OF_PROSE
        """The same in the last answer, without one."""

    def reply_tokens(
        self, messages: tuple[Message, ...], wanted: int | None, added: int, written: int = 0
    ) -> int | None:
        """The limit to send for the reply: `wanted`, or what the window leaves if that is less.

        `added` is the number of characters that are sent besides the messages; `written` the tokens that the reply is
        likely to have, 0 if not known.

        Raises:
            WindowExceeded: it leaves too little.
        """
        if self.tokens is None:
            return wanted
        left = int(self.tokens - self._ratio * _estimated(messages, added))
        if left < self._reserved(wanted, written):
            raise self.exceeded(messages, wanted, added, written)
        return None if wanted is None else min(wanted, left)

    def exceeded(
        self, messages: tuple[Message, ...], wanted: int | None, added: int, written: int = 0
    ) -> WindowExceeded:
        """The error for a question that does not fit."""
        characters = sum(len(message.content) for message in messages)
        fits, window = _NEXT * characters, "window"
        if self.tokens is not None:
            # The characters around the texts stay when those are cut.
            around = _OF_A_TURN * len(messages) + added / _CHARACTERS_OF_A_TOKEN
            left = (self.tokens - self._reserved(wanted, written)) / self._ratio - around
            fits = characters * left / max(_estimated(messages, 0), 1)
            if fits >= characters:
                fits = _NEXT * characters
            window = f"window of {self.tokens} tokens"
        return WindowExceeded(
            f"the question, of {characters} characters, is longer than the model's {window} allows",
            characters=max(int(fits), 0),
            asked=characters,
        )

    def count(self, messages: tuple[Message, ...], prompt_tokens: int, added: int) -> None:
        """Correct the estimate by what the endpoint counted (0: nothing)."""
        estimated = _estimated(messages, added)
        if prompt_tokens and estimated >= _LEAST_COUNTED:
            self._counted = prompt_tokens / estimated
            self._ratio = _within_bounds(_MARGIN * self._counted)

    def estimated(self, messages: tuple[Message, ...]) -> int:
        """Tokens of a prompt that the endpoint has not counted."""
        return round(self._counted * _estimated(messages, 0))

    def refused(self, messages: tuple[Message, ...], reply_tokens: int | None, added: int, refusal: Refusal) -> None:
        """Learn from a refusal because of the question's length; as it was sent, it is not taken to fit again."""
        known = self.tokens
        estimated = _estimated(messages, added)
        window = refusal.window or int(_NEXT * self._ratio * estimated)
        if window < SMALLEST_WINDOW:
            return
        self.tokens = min(window, known or window)
        if self._ratio * estimated + (reply_tokens or 0) <= self.tokens:
            self._ratio = _within_bounds((self.tokens - self._reserved(reply_tokens, 0) + 1) / estimated)
        if self.tokens != known:
            _LOG.info("endpoint_window_learned", model=self._name, tokens=self.tokens)

    def _reserved(self, wanted: int | None, written: int) -> int:
        """Tokens that a reply must have at least."""
        share = written or (self.tokens or 0) // _FOR_THE_REPLY
        return share if wanted is None else min(share, wanted)


def _within_bounds(ratio: float) -> float:
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
