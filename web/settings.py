"""Settings of the page."""

import ipaddress

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

    @field_validator("token")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            characters = len(value.get_secret_value())
            if characters < _TOKEN_CHARACTERS:
                raise ValueError(f"it has {characters} characters; allowed are {_TOKEN_CHARACTERS} and more")
        return value

    @model_validator(mode="after")
    def _guarded(self) -> "PageSettings":
        if not is_loopback(self.host) and self.token is None:
            raise ValueError(f"host {self.host!r} can be reached from elsewhere, which demands token")
        return self


def is_loopback(host: str) -> bool:
    """True if nobody but this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
