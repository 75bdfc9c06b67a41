"""The `webhooks` sections of the configuration, one by the name of each webhook."""

import base64
import re
from typing import Annotated, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, field_validator, model_validator

from streams.settings import SettingsSection

SECRET_PREFIX = "whsec_"  # noqa: S105 - what every such secret begins with

_KEY_BYTES = range(24, 65)
_FORM = (
    "expected whsec_ and the base64 of 24 to 64 random bytes, or two of these with a space between; "
    '`echo "whsec_$(openssl rand -base64 32)"` makes one, and the receiver needs the same'
)
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f-\x9f\\]")


def plain_url(value: str) -> str:
    """The URL; raises ValueError unless it is one of http or https, with a host, and without credentials or `#`."""
    parts = urlsplit(value)
    is_web = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    if not is_web or parts.username is not None or parts.fragment or _NOT_IN_URLS.search(value):
        raise ValueError("expected a URL such as https://host.example:8080/path, without credentials and without `#`")
    return value


WebhookTopic: TypeAlias = Literal["rejected", "improved", "alerts"]

WebhookName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
"""It appears in environment variables, in metrics and in the name of a consumer group."""


class WebhookSettings(SettingsSection):
    """A service to which messages are posted."""

    url: Annotated[str, AfterValidator(plain_url)]
    """URL to post to, http or https."""
    secret: SecretStr
    """Signs requests: `whsec_` and the base64 of 24 to 64 random bytes; never shown. To change it, set the new and the
    old one for a while, with a space between."""
    topics: tuple[WebhookTopic, ...] = Field(default=("rejected",), min_length=1)
    """Messages to post: rejected verdicts, improvements, alerts on trust."""
    include_record: bool = False
    """Post the record with a rejected verdict."""

    @field_validator("secret")
    @classmethod
    def _are_keys(cls, value: SecretStr) -> SecretStr:
        keys_of(value)
        return value

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if len(set(self.topics)) < len(self.topics):
            raise ValueError("a topic is named twice")
        if self.include_record and "rejected" not in self.topics:
            raise ValueError("include_record is for rejected verdicts; add rejected to topics, or remove it")
        return self

    @property
    def keys(self) -> tuple[bytes, ...]:
        return keys_of(self.secret)


def keys_of(secret: SecretStr) -> tuple[bytes, ...]:
    """The keys that `secret` encodes, one or two; raises ValueError, which says the form and not what was given."""
    secrets = secret.get_secret_value().split(" ")
    try:
        encoded = [each.removeprefix(SECRET_PREFIX) for each in secrets if each.startswith(SECRET_PREFIX)]
        keys = [base64.b64decode(each + "=" * (-len(each) % 4), validate=True) for each in encoded]
    except ValueError:
        raise ValueError(_FORM) from None
    if not len(keys) == len(secrets) <= 2 or any(len(key) not in _KEY_BYTES for key in keys):
        raise ValueError(_FORM)
    return tuple(keys)
