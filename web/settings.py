"""Settings of the page."""

import ipaddress

from pydantic import BaseModel, ConfigDict, SecretStr, field_validator

_TOKEN_CHARACTERS = 16  # fewer could be guessed


class PageSettings(BaseModel):
    """The page of `assay ui`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    token: SecretStr | None = None
    """People enter it to open the page; at least 16 characters. Needed with `--host`."""

    @field_validator("token")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            characters = len(value.get_secret_value())
            if characters < _TOKEN_CHARACTERS:
                raise ValueError(f"it has {characters} characters; allowed are {_TOKEN_CHARACTERS} and more")
        return value


def is_loopback(host: str) -> bool:
    """True if nobody but this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
