"""Settings of everything that touches Kafka and HTTP: six sections, each usable on its own."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

MAX_KEPT_BYTES = 700_000
"""The longest payload a dead letter can carry: base64 makes 933,336 of it, and with up to 20 kB of detail, key and
names around it the message stays below the 1,000,012 bytes of a record batch that a broker takes by default."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class KafkaSettings(_Section):
    """How to reach the brokers."""

    bootstrap_servers: str = "127.0.0.1:9092"
    """`host:port` of one or more brokers, separated by commas."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """`PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`."""
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    """`PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`; needed with a SASL protocol."""
    sasl_username: str | None = None
    """Needed with a SASL protocol."""
    sasl_password: SecretStr | None = None
    """Needed with a SASL protocol; never shown."""
    ssl_cafile: str | None = None
    """Certificate authorities to trust (PEM); the system's where absent."""
    ssl_certfile: str | None = None
    """The client's certificate (PEM), where the brokers ask for one."""
    ssl_keyfile: str | None = None
    """The key of `ssl_certfile` (PEM)."""
    client_id: str = Field(default="assay", min_length=1, max_length=200)
    """Under this name the brokers log and meter our connections."""

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
        sasl = {
            "sasl_mechanism": self.sasl_mechanism,
            "sasl_username": self.sasl_username,
            "sasl_password": self.sasl_password,
        }
        if self.security_protocol.startswith("SASL"):
            missing = [name for name, value in sasl.items() if value is None]
            if missing:
                raise ValueError(f"security_protocol {self.security_protocol} needs {', '.join(missing)} as well")
        elif given := [name for name, value in sasl.items() if value is not None]:
            raise ValueError(
                f"{', '.join(given)} given with security_protocol {self.security_protocol}; "
                "SASL_PLAINTEXT or SASL_SSL use it"
            )
        if (self.ssl_certfile is None) != (self.ssl_keyfile is None):
            raise ValueError("ssl_certfile and ssl_keyfile go together")
        tls = [name for name in ("ssl_cafile", "ssl_certfile") if getattr(self, name) is not None]
        if tls and not self.security_protocol.endswith("SSL"):
            raise ValueError(
                f"{', '.join(tls)} given with security_protocol {self.security_protocol}; SSL or SASL_SSL use it"
            )
        return self

    @property
    def servers(self) -> list[str]:
        """The bootstrap servers, one by one."""
        return [server.strip() for server in self.bootstrap_servers.split(",")]


class TopicSettings(_Section):
    """What the topics are called, and how they are created."""

    prefix: str = Field(default="assay", pattern=r"^[a-zA-Z0-9._-]{1,200}$")
    """Stands before every topic and consumer group; letters, digits, `.`, `_` and `-`."""
    partitions: int = Field(default=4, ge=1, le=10_000)
    """Partitions of a topic that `topics create` makes: as many workers can share one checker."""
    replication: int = Field(default=1, ge=1, le=100)
    """Copies of each; 3 where there are three brokers."""

    @property
    def outputs(self) -> str:
        """Records from production."""
        return f"{self.prefix}.outputs"

    @property
    def accepted(self) -> str:
        """Verdicts that accept."""
        return f"{self.prefix}.verdicts.accepted"

    @property
    def rejected(self) -> str:
        """Verdicts that reject."""
        return f"{self.prefix}.verdicts.rejected"

    @property
    def abstained(self) -> str:
        """Verdicts of checkers that could not decide."""
        return f"{self.prefix}.verdicts.abstained"

    @property
    def improved(self) -> str:
        """Improved responses."""
        return f"{self.prefix}.improved"

    @property
    def alerts(self) -> str:
        """Trust in a subject dropped, or came back."""
        return f"{self.prefix}.alerts"

    @property
    def dead_letter(self) -> str:
        """What could not be read or judged."""
        return f"{self.prefix}.dead-letter"

    @property
    def trust_state(self) -> str:
        """What the trust monitor knows, a message a series; its own, and compacted."""
        return f"{self.prefix}.trust-state"

    @property
    def spending(self) -> str:
        """What each worker has spent today; their own, and compacted."""
        return f"{self.prefix}.spending"

    @property
    def compacted(self) -> tuple[str, ...]:
        """Topics of which the last message of each key is kept for ever."""
        return (self.trust_state, self.spending)

    @property
    def public(self) -> tuple[str, ...]:
        """The topics that others write to and read."""
        return (
            self.outputs,
            self.accepted,
            self.rejected,
            self.abstained,
            self.improved,
            self.alerts,
            self.dead_letter,
        )

    @property
    def all(self) -> tuple[str, ...]:
        """Every topic of the service."""
        return (*self.public, *self.compacted)


class HttpSettings(_Section):
    """Where metrics and health are served."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Loopback unless told otherwise; `0.0.0.0` where a scraper on another machine reads it."""
    port: int = Field(default=9464, ge=0, le=65535)
    """0 takes a free one."""


class DeliverySettings(_Section):
    """How records are taken, worked on and acknowledged."""

    concurrency: int = Field(default=128, ge=1, le=10_000)
    """Records of one checker that one worker works on at once, also where they are all of one partition. Above the
    judge's own limit, so that intake never starves it."""
    window: int = Field(default=4096, ge=1, le=1_000_000)
    """Records of one partition between the oldest unfinished one and the newest begun; when it is full, intake waits
    for the oldest. As many may repeat after a crash."""
    attempts: int = Field(default=3, ge=1, le=100)
    """How often a record is tried whose checker raises an unexpected error, before it becomes a dead letter."""
    check_timeout_seconds: float = Field(default=60.0, gt=0, le=3600)
    """One check, all its questions included; afterwards the checker abstains."""
    rebalance_timeout_seconds: float = Field(default=90.0, gt=0, le=7200)
    """How long the group waits for this worker when partitions are handed round."""
    session_timeout_seconds: float = Field(default=10.0, gt=0, le=1800)
    """After this long without a sign of life the group gives a worker's partitions to others."""
    drain_seconds: float = Field(default=20.0, ge=0, le=3600)
    """How long records under way may take to finish on SIGTERM and when partitions are handed round; what is left
    then is cancelled and comes back. Below the grace that the container's runtime gives (30 s in Kubernetes)."""
    commit_interval_seconds: float = Field(default=0.5, gt=0, le=60)
    """How often finished offsets are committed; what was finished since repeats after a crash."""
    linger_seconds: float = Field(default=0.005, ge=0, le=5)
    """How long a verdict waits for others to share a request with."""
    instance_id: str | None = Field(default=None, pattern=r"^[a-zA-Z0-9._-]{1,100}$")
    """Unique to this worker and the same after its restart, such as the pod's name in a StatefulSet: a restart then
    hands no partitions round, and takes up where it was at once. Two running workers with the same one fence each
    other off. Without it a worker that died keeps its partitions for `session_timeout_seconds`."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for name in ("check_timeout_seconds", "drain_seconds"):
            # Otherwise the group goes on without this worker while it still works, and all that is under way is
            # done twice; with slow checks the workers then swap partitions for ever.
            if getattr(self, name) >= self.rebalance_timeout_seconds:
                raise ValueError(
                    f"{name} is {getattr(self, name):g}; it must be below rebalance_timeout_seconds "
                    f"({self.rebalance_timeout_seconds:g})"
                )
        return self


class RecordSettings(_Section):
    """What is taken for a record."""

    max_bytes: int = Field(default=1_048_576, ge=1024, le=104_857_600)
    """Longer messages go to the dead letters unread."""
    dead_letter_keep_bytes: int = Field(default=MAX_KEPT_BYTES, ge=0, le=MAX_KEPT_BYTES)
    """So much of a message its dead letter carries; the rest is where the message stood, while its topic keeps it."""


class MetricsSettings(_Section):
    """What is told to Prometheus."""

    max_subjects: int = Field(default=500, ge=1, le=100_000)
    """Pairs of source and model with labels of their own; all further ones are counted under `other`. Producers choose
    both names, so there must be an end: 500 pairs, three outcomes and ten checkers make 15,000 series of verdicts, and
    as many again where routing leaves records out."""


class StreamSettings(_Section):
    """All six sections."""

    kafka: KafkaSettings = KafkaSettings()
    """How to reach the brokers."""
    topics: TopicSettings = TopicSettings()
    """What the topics are called."""
    http: HttpSettings = HttpSettings()
    """Where metrics and health are served."""
    delivery: DeliverySettings = DeliverySettings()
    """How records are taken, worked on and acknowledged."""
    records: RecordSettings = RecordSettings()
    """What is taken for a record."""
    metrics: MetricsSettings = MetricsSettings()
    """What is told to Prometheus."""
