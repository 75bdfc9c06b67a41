"""Settings of everything that touches Kafka and HTTP: five sections, each usable on its own."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

MAX_KEPT_BYTES = 700_000
"""The longest payload of a dead letter: base64 makes 933,336 of it, and a broker takes 1,000,012 bytes by default."""

Property = str | int | bool
_TEXT, _NUMBER, _SWITCH = TypeAdapter(str), TypeAdapter(int), TypeAdapter(bool)
_PROPERTIES: dict[str, tuple[TypeAdapter[Any], str]] = {
    "client_id": (_TEXT, "all"),
    "connections_max_idle_ms": (_NUMBER, "all"),
    "metadata_max_age_ms": (_NUMBER, "all"),
    "retry_backoff_ms": (_NUMBER, "all"),
    "check_crcs": (_SWITCH, "consumer"),
    "client_rack": (_TEXT, "consumer"),
    "fetch_max_bytes": (_NUMBER, "consumer"),
    "fetch_min_bytes": (_NUMBER, "consumer"),
    "isolation_level": (TypeAdapter(Literal["read_committed", "read_uncommitted"]), "consumer"),
    "max_partition_fetch_bytes": (_NUMBER, "consumer"),
    "session_timeout_ms": (TypeAdapter(Annotated[int, Field(gt=0, le=1_800_000)]), "group"),
    "group_instance_id": (TypeAdapter(Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,100}$")]), "group"),
    "compression_type": (TypeAdapter(Literal["gzip", "snappy", "lz4", "zstd"]), "producer"),
}
"""Properties of aiokafka's clients by name, and of which clients. The others are set by assay: delivery depends on
them."""


class SettingsSection(BaseModel):
    """Base class of a section of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class KafkaSettings(SettingsSection):
    """Connections to the brokers."""

    bootstrap_servers: str = "127.0.0.1:9092"
    """`host:port` of one or more brokers, separated by commas."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """Encryption and authentication of connections to the brokers."""
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    """SASL mechanism; needed with a SASL protocol."""
    sasl_username: str | None = None
    """SASL user name; needed with PLAIN and SCRAM."""
    sasl_password: SecretStr | None = None
    """SASL password; needed with PLAIN and SCRAM, never shown."""
    sasl_token_command: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Program and arguments that print a token for OAUTHBEARER; they run without a shell."""
    sasl_extensions: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z]+$")],
        Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]+$")],
    ] = {}
    """Extensions sent with the token, such as `logicalCluster`."""
    ssl_cafile: str | None = None
    """PEM file of trusted certificate authorities; the system's if not set."""
    ssl_certfile: str | None = None
    """PEM file of the client's certificate."""
    ssl_keyfile: str | None = None
    """PEM file of the private key of `ssl_certfile`."""
    ssl_key_password: SecretStr | None = None
    """Password of an encrypted `ssl_keyfile`, never shown."""
    properties: dict[str, Property] = {"isolation_level": "read_committed"}
    """Properties of consumers and producers, by Kafka's names. After `"session.timeout.ms"` (10,000) without a
    heartbeat, others get a worker's partitions. `"group.instance.id"`, such as the name of a StatefulSet's pod, makes
    a worker a static member, whose restart causes no rebalance; it must be unique."""

    @field_validator("properties", mode="before")
    @classmethod
    def _known_properties(cls, value: object) -> object:
        """By aiokafka's names; an error names the one that cannot be set, and what is allowed."""
        if not isinstance(value, Mapping):
            return value
        read: dict[str, Property] = {"isolation_level": "read_committed"}
        for key, given in value.items():
            if (name := str(key).replace(".", "_")) not in _PROPERTIES:
                allowed = ", ".join(one.replace("_", ".") for one in _PROPERTIES)
                raise ValueError(f"{key!r} cannot be set here; allowed are {allowed}, in quotation marks")
            try:
                read[name] = _PROPERTIES[name][0].validate_python(given)
            except ValidationError as error:
                raise ValueError(f"{key!r} is {given!r}: {error.errors()[0]['msg']}") from None
        return read

    @field_validator("bootstrap_servers")
    @classmethod
    def _host_and_port(cls, value: str) -> str:
        for server in value.split(","):
            host, _, port = server.strip().rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) < 65536:
                raise ValueError(f"{server.strip()!r} is not `host:port`; several are separated by commas")
        return value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = {name for name in type(self).model_fields if getattr(self, name) not in (None, {})}
        needed, allowed = set[str](), set[str]()
        protocol, mechanism = self.security_protocol, self.sasl_mechanism
        if protocol.startswith("SASL"):
            is_token = mechanism == "OAUTHBEARER"
            needed = {"sasl_mechanism", *(["sasl_token_command"] if is_token else ["sasl_username", "sasl_password"])}
            allowed = needed | ({"sasl_extensions"} if is_token else set())
        if protocol.endswith("SSL"):
            allowed |= {"ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_key_password"}
        if missing := sorted(needed - given):
            raise ValueError(f"security_protocol {protocol} needs {', '.join(missing)} as well")
        if useless := sorted(name for name in given - allowed if name.startswith(("sasl_", "ssl_"))):
            has = f"security_protocol {protocol}{f' and sasl_mechanism {mechanism}' if mechanism else ''}"
            raise ValueError(f"{', '.join(useless)} given with {has}, which has no use for it")
        if (self.ssl_certfile is None) != (self.ssl_keyfile is None):
            raise ValueError("ssl_certfile and ssl_keyfile go together")
        if self.ssl_key_password is not None and self.ssl_keyfile is None:
            raise ValueError("ssl_key_password is of no use without ssl_keyfile")
        return self

    @property
    def servers(self) -> list[str]:
        return [server.strip() for server in self.bootstrap_servers.split(",")]

    def properties_of(self, clients: Literal["consumer", "producer"]) -> dict[str, Property]:
        """Properties of each of these clients."""
        return {name: each for name, each in self.properties.items() if _PROPERTIES[name][1] in ("all", clients)}

    @property
    def session_seconds(self) -> float:
        """The time without a heartbeat after which a group gives a member's partitions to others."""
        return int(self.properties.get("session_timeout_ms", 10_000)) / 1000


Days = Annotated[float, Field(gt=0, le=36_500)] | Literal["forever"]


def _topic(name: str) -> "cached_property[str]":
    """The name of a topic, behind the prefix."""
    return cached_property(lambda topics: f"{topics.prefix}.{name}")


class TopicSettings(SettingsSection):
    """Names of the topics, and how they are created."""

    prefix: str = Field(default="assay", pattern=r"^[a-zA-Z0-9._-]{1,200}$")
    """Beginning of the name of every topic and consumer group."""
    partitions: int = Field(default=24, ge=1, le=10_000)
    """Partitions of each new topic, unless the prefix has topics already. As many processes can share one checker."""
    replication: int = Field(default=1, ge=1, le=100)
    """Replicas of each new topic; use 3 with three brokers or more. `min.insync.replicas` is one less."""
    retention_days: dict[Literal["outputs", "verdicts", "dead_letters"], Days] = Field(default_factory=dict)
    """Days for which Kafka keeps `outputs` (records), `verdicts` (also improvements and alerts) and `dead_letters`.
    Without it the brokers' default applies. Kafka deletes up to a quarter of that time later."""

    @property
    def in_sync(self) -> int:
        """`min.insync.replicas` of the topics: one broker may be away, and nothing is lost with another."""
        return max(1, self.replication - 1)

    outputs: ClassVar[cached_property[str]] = _topic("outputs")
    accepted: ClassVar[cached_property[str]] = _topic("verdicts.accepted")
    rejected: ClassVar[cached_property[str]] = _topic("verdicts.rejected")
    abstained: ClassVar[cached_property[str]] = _topic("verdicts.abstained")
    improved: ClassVar[cached_property[str]] = _topic("improved")
    alerts: ClassVar[cached_property[str]] = _topic("alerts")
    dead_letter: ClassVar[cached_property[str]] = _topic("dead-letter")
    review_requests: ClassVar[cached_property[str]] = _topic("review.requests")
    labels: ClassVar[cached_property[str]] = _topic("labels")
    calibration: ClassVar[cached_property[str]] = _topic("calibration")
    outcomes: ClassVar[cached_property[str]] = _topic("outcomes")
    """Accepts and rejects in one order, for the monitors; internal."""
    trust_state: ClassVar[cached_property[str]] = _topic("trust-state")
    """State of the trust monitor, a message for each series."""
    label_state: ClassVar[cached_property[str]] = _topic("label-state")
    """State of the labels' agent, a message for each series."""
    session_state: ClassVar[cached_property[str]] = _topic("session-state")
    """What was said in sessions that are not silent yet, a message for each conversation and each group."""

    @property
    def compacted(self) -> tuple[str, ...]:
        """Topics of which Kafka keeps the last message of each key."""
        return (self.calibration, self.trust_state, self.label_state, self.session_state)

    def kept_days(self, topic: str) -> float | Literal["forever"] | None:
        """Days for which messages of one of these topics are to be kept; None: as the brokers say."""
        days = self.retention_days
        verdicts = (self.accepted, self.rejected, self.abstained, self.improved, self.outcomes, self.alerts)
        of_topic: dict[str, float | Literal["forever"] | None] = {
            self.outputs: days.get("outputs"),
            **dict.fromkeys(verdicts, days.get("verdicts")),
            self.dead_letter: days.get("dead_letters"),
            **dict.fromkeys((self.review_requests, self.labels), "forever"),
        }
        return of_topic.get(topic)

    @property
    def all(self) -> tuple[str, ...]:
        names = (name for name, each in vars(TopicSettings).items() if isinstance(each, cached_property))
        return tuple(getattr(self, name) for name in names)


class HttpSettings(SettingsSection):
    """Where metrics and health are served."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address of `/metrics`, `/healthz` and `/readyz`; `0.0.0.0` admits other machines."""
    port: int = Field(default=9464, ge=0, le=65535)
    """Port of the same; 0: any free one."""


class DeliverySettings(SettingsSection):
    """Taking, working on and acknowledging records."""

    concurrency: int = Field(default=128, ge=1, le=10_000)
    """Records that one checker of one worker checks at the same time at most. Keep it above `judge.concurrency`, so
    that the judge is never idle."""
    drain_seconds: float = Field(default=20.0, ge=0, le=3600)
    """Time for checks to finish on SIGTERM and before a rebalance; the rest is checked again later. Keep it below the
    container runtime's grace period (30 s in Kubernetes)."""


class RecordSettings(SettingsSection):
    """Limits of the messages that are read as records."""

    max_bytes: int = Field(default=1_048_576, ge=1024, le=104_857_600)
    """A longer message becomes a dead letter without being read."""
    version_metadata: tuple[str, ...] = ()
    """Keys of a record's metadata that name a version of the application. The trust monitor begins a new series where
    one changes."""


class StreamSettings(SettingsSection):
    """All five sections."""

    kafka: KafkaSettings = KafkaSettings()
    """Connections to the brokers."""
    topics: TopicSettings = TopicSettings()
    """Names of the topics."""
    http: HttpSettings = HttpSettings()
    """Where metrics and health are served."""
    delivery: DeliverySettings = DeliverySettings()
    """Taking, working on and acknowledging records."""
    records: RecordSettings = RecordSettings()
    """Limits of the messages that are read as records."""
