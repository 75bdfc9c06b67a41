"""Settings of the page."""

import ipaddress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

_TOKEN_CHARACTERS = 16
"""Fewer could be guessed."""


class PageSettings(BaseModel):
    """The page of `assay ui`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    """Address to listen on. Any but a loopback address demands a token."""
    port: int = Field(default=8090, ge=0, le=65535)
    """Port on which it is served; 0 takes a free one."""
    token: SecretStr | None = None
    """Whoever opens the page has to enter it; at least 16 characters."""
    token_file: Path | None = None
    """A file with the token, in its place."""

    @field_validator("token")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            _check_token(value.get_secret_value())
        return value

    @model_validator(mode="after")
    def _guarded(self) -> "PageSettings":
        if self.token is not None and self.token_file is not None:
            raise ValueError("allowed is one of token and token_file")
        if not is_loopback(self.host) and self.token is None and self.token_file is None:
            raise ValueError(f"host {self.host!r} can be reached from elsewhere, which demands token or token_file")
        return self

    def read_token(self) -> str | None:
        """The token; None if nothing demands one.

        Raises:
            ValueError: the file cannot be read, or what it holds is too short.
        """
        if self.token_file is None:
            return None if self.token is None else self.token.get_secret_value()
        try:
            token = self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.token_file} cannot be read: {getattr(error, 'strerror', 'not UTF-8')}") from None
        _check_token(token)
        return token


def is_loopback(host: str) -> bool:
    """True if nobody but this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _check_token(token: str) -> None:
    if len(token) < _TOKEN_CHARACTERS:
        raise ValueError(f"it has {len(token)} characters; allowed are {_TOKEN_CHARACTERS} and more")
