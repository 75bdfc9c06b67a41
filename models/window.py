"""The model's window: how much of it a question takes, and what is learned of it from answers and refusals."""

from typing import NamedTuple

import structlog

from models.faults import SMALLEST_WINDOW, Refused
from models.protocol import Message, WindowExceeded

_LOG = structlog.get_logger(__name__)

_OF_A_TURN = 8  # tokens around each turn: role and separators of the chat template
_CHARACTERS_OF_A_TOKEN = 2.5
"""ASCII characters a token: JSON, code and figures have so many, English prose four; the first answer corrects that."""
_BYTES_OF_A_TOKEN = 2
"""UTF-8 bytes a token, not ASCII: most scripts have more; those that a model hardly knows have one or two."""
_FOR_THE_REPLY = 4  # at least one in so many tokens of the window is left to a reply of unknown length
_LOWEST, _HIGHEST = 0.6, 4.0
"""Of the correction: some endpoints count only what was not cached; no character has more than four tokens."""
_MARGIN = 1.08
_LEAST_COUNTED = 200  # estimated tokens; in shorter questions the template weighs more than the text
_SAFE = 0.98  # what stands around the texts stays when those are cut
_NEXT = 0.8  # so much of what does not fit is said to, where the window's size is not known


class Prompt(NamedTuple):
    """A prompt's size, and its reply's."""

    characters: int = 0
    tokens: float = 0.0
    """With what stands around the messages; estimated, rather too many than too few."""
    wanted: int | None = None
    """The limit of the reply, None for none."""
    written: int = 0
    """Tokens that the reply is likely to have, 0 if not known."""


def prompt_of(messages: tuple[Message, ...], wanted: int | None, written: int) -> Prompt:
    text = "".join(one.content for one in messages)
    plain, whole = len(text.encode("ascii", "ignore")), len(text.encode(errors="replace"))
    tokens = plain / _CHARACTERS_OF_A_TOKEN + (whole - plain) / _BYTES_OF_A_TOKEN + _OF_A_TURN * len(messages)
    return Prompt(len(text), tokens, wanted, written)


class Window:
    """Belongs to one endpoint; without a size, everything fits."""

    def __init__(self, tokens: int | None, *, name: str) -> None:
        """`tokens` is the size, None if it is not known; `name` is for logs."""
        self._tokens, self._name = tokens, name
        self._ratio = 1.0  # tokens for each that is estimated

    def reply_tokens(self, prompt: Prompt) -> int | None:
        """The limit of the reply: at most what the window leaves; raises WindowExceeded if that is too little."""
        if self._tokens is None:
            return prompt.wanted
        left = int(self._tokens - self._ratio * prompt.tokens)
        if left < self._reserved(prompt):
            raise self._exceeded(prompt)
        return None if prompt.wanted is None else min(prompt.wanted, left)

    def count(self, prompt: Prompt, tokens: int) -> None:
        """Correct the estimate by what the endpoint counted (0: nothing)."""
        if tokens and prompt.tokens >= _LEAST_COUNTED:
            self._ratio = min(max(_MARGIN * tokens / prompt.tokens, _LOWEST), _HIGHEST)

    def refused(self, prompt: Prompt, sent: int | None, refused: Refused) -> None:
        """Learn from a refusal because of the length of a question that was `sent` with this limit of the reply.

        Raises WindowExceeded unless it may fit with a lower limit: as it was sent, it is not taken to fit again.
        """
        known, limit = self._tokens, sent or 0
        window = refused.window or int(_NEXT * self._ratio * prompt.tokens)
        if window >= SMALLEST_WINDOW:
            self._tokens = min(window, known or window)
            if self._ratio * prompt.tokens + limit <= self._tokens:
                # It was to fit, and the reply's limit is not to blame.
                self._ratio, limit = min((self._tokens - self._reserved(prompt) + 1) / prompt.tokens, _HIGHEST), 0
            if self._tokens != known:
                _LOG.info("endpoint_window_learned", model=self._name, tokens=self._tokens)
        if (self.reply_tokens(prompt) or limit) >= limit:
            raise self._exceeded(prompt)

    def _exceeded(self, prompt: Prompt) -> WindowExceeded:
        characters, window, share = prompt.characters, "window", 1.0
        if self._tokens is not None:
            share = _SAFE * (self._tokens - self._reserved(prompt)) / (self._ratio * prompt.tokens)
            window = f"window of {self._tokens} tokens"
        fits = max(int(characters * (share if share < 1 else _NEXT)), 0)
        detail = f"the question, of {characters} characters, is longer than the model's {window} allows"
        return WindowExceeded(detail, characters=fits, asked=characters)

    def _reserved(self, prompt: Prompt) -> int:
        """Tokens that a reply must have at least."""
        share = prompt.written or (self._tokens or 0) // _FOR_THE_REPLY
        return share if prompt.wanted is None else min(share, prompt.wanted)
