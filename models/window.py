"""The model's window: how much of it a question takes, and what is learned of it from answers and refusals."""

from typing import NamedTuple

import structlog

from models.faults import SMALLEST_WINDOW, Refusal
from models.protocol import Message, WindowExceeded

_LOG = structlog.get_logger(__name__)

_OF_A_TURN = 8  # tokens around each turn: role and separators of the chat template
_CHARACTERS_OF_A_TOKEN = 2.5
"""ASCII characters a token: JSON, code and figures have so many, English prose four; the first answer corrects that."""
_BYTES_OF_A_TOKEN = 2
"""UTF-8 bytes a token, not ASCII: most scripts have more; those that a model hardly knows have one or two."""
_OF_PROSE = 0.625  # share of the estimate that English prose takes, where nothing was counted yet
_FOR_THE_REPLY = 4  # at least one in so many tokens of the window is left to a reply of unknown length
_LOWEST, _HIGHEST = 0.6, 4.0
"""Of the correction: some endpoints count only what was not cached; no character has more than four tokens."""
_MARGIN = 1.08
_LEAST_COUNTED = 200  # estimated tokens; in shorter questions the template weighs more than the text
_NEXT = 0.8  # so much of what does not fit is said to, where the window's size is not known


class Prompt(NamedTuple):
    """The size of a prompt: characters of its messages, and estimated tokens of these and of what stands around."""

    characters: int
    tokens: float
    around: float


def prompt_of(messages: tuple[Message, ...], added: int = 0) -> Prompt:
    """Of messages with so many characters `added`; rather too many tokens than too few."""
    others = sum(len(one.content.encode("utf-8", "surrogatepass")) for one in messages)
    plain = sum(len(one.content.encode("ascii", "ignore")) for one in messages)
    tokens = plain / _CHARACTERS_OF_A_TOKEN + (others - plain) / _BYTES_OF_A_TOKEN
    around = _OF_A_TURN * len(messages) + added / _CHARACTERS_OF_A_TOKEN
    return Prompt(sum(len(one.content) for one in messages), tokens, around)


class Window:
    """Belongs to one endpoint; without a size, everything fits."""

    def __init__(self, tokens: int | None, *, name: str) -> None:
        """`tokens` is the size, None if it is not known; `name` is for logs."""
        self._tokens, self._name = tokens, name
        self._ratio = 1.0  # tokens for each that is estimated, with a margin
        self._counted = _OF_PROSE  # the same in the last answer, without one

    def reply_tokens(self, prompt: Prompt, wanted: int | None, written: int) -> int | None:
        """The limit of the reply: `wanted`, or what the window leaves if that is less.

        `written` are the tokens that it is likely to have, 0 if not known. Raises WindowExceeded if too little is left.
        """
        if self._tokens is None:
            return wanted
        left = int(self._tokens - self._ratio * (prompt.tokens + prompt.around))
        if left < self._reserved(wanted, written):
            raise self.exceeded(prompt, wanted, written)
        return None if wanted is None else min(wanted, left)

    def exceeded(self, prompt: Prompt, wanted: int | None, written: int) -> WindowExceeded:
        """The error for a question that does not fit."""
        characters, window = prompt.characters, "window"
        fits = _NEXT * characters
        if self._tokens is not None:
            # What is around the texts stays when those are cut.
            left = (self._tokens - self._reserved(wanted, written)) / self._ratio - prompt.around
            known = characters * left / max(prompt.tokens, 1)
            fits = known if known < characters else fits
            window = f"window of {self._tokens} tokens"
        detail = f"the question, of {characters} characters, is longer than the model's {window} allows"
        return WindowExceeded(detail, characters=max(int(fits), 0), asked=characters)

    def count(self, prompt: Prompt, tokens: int) -> None:
        """Correct the estimate by what the endpoint counted (0: nothing)."""
        estimated = prompt.tokens + prompt.around
        if tokens and estimated >= _LEAST_COUNTED:
            self._counted = tokens / estimated
            self._ratio = min(max(_MARGIN * self._counted, _LOWEST), _HIGHEST)

    def estimated(self, prompt: Prompt) -> int:
        """Tokens of a prompt that the endpoint has not counted."""
        return round(self._counted * (prompt.tokens + prompt.around))

    def refused(self, prompt: Prompt, reply_tokens: int | None, refusal: Refusal) -> None:
        """Learn from a refusal because of the question's length; as it was sent, it is not taken to fit again."""
        known, estimated = self._tokens, prompt.tokens + prompt.around
        window = refusal.window or int(_NEXT * self._ratio * estimated)
        if window < SMALLEST_WINDOW:
            return
        self._tokens = min(window, known or window)
        if self._ratio * estimated + (reply_tokens or 0) <= self._tokens:
            ratio = (self._tokens - self._reserved(reply_tokens, 0) + 1) / estimated
            self._ratio = min(max(ratio, _LOWEST), _HIGHEST)
        if self._tokens != known:
            _LOG.info("endpoint_window_learned", model=self._name, tokens=self._tokens)

    def _reserved(self, wanted: int | None, written: int) -> int:
        """Tokens that a reply must have at least."""
        share = written or (self._tokens or 0) // _FOR_THE_REPLY
        return share if wanted is None else min(share, wanted)
