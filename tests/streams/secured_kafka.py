"""An Apache Kafka as companies run it: SASL over TLS, and TLS with clients' certificates, beside the plain listener.

Its certificates, users and signed tokens are made anew each time.
"""

import json
import time
import uuid
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import trustme
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.kafka import KafkaBroker
from tests.support.ports import free_ports

USER, PASSWORD = "assay", "correct-horse-battery-staple"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
AUDIENCE = "kafka"
_SECURITY = "org.apache.kafka.common.security"
_OAUTH = f"{_SECURITY}.oauthbearer"


class SecuredKafka(KafkaBroker):
    """Listens for SASL over TLS on `sasl_servers`, for TLS with a client's certificate on `tls_servers`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.ca, self.other_ca = trustme.CA(), trustme.CA()
        self._signing_key = rsa.generate_private_key(65537, 2048)
        sasl, tls, astray = free_ports(3)
        # The certificate is of the address, not of `localhost`.
        self.sasl_servers, self.sasl_by_another_name = f"127.0.0.1:{sasl}", f"localhost:{sasl}"
        self.tls_servers = f"127.0.0.1:{tls}"
        # It sends its clients on to where nobody listens.
        self.astray_servers = f"127.0.0.1:{astray}"
        self.ca.cert_pem.write_to_path(folder / "ca.pem")
        self.other_ca.cert_pem.write_to_path(folder / "other-ca.pem")
        self._write_server_key()
        jwks = folder / "jwks.json"
        jwks.write_text(json.dumps({"keys": [self._public_key()]}))
        self.flags = [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks.as_uri()}"]
        listeners = f"PLAINTEXT://{self.bootstrap_servers},SASL://{self.sasl_servers},TLS://{self.tls_servers}"
        of_sasl = "listener.name.sasl."
        with self._properties.open("a") as properties:
            properties.write(
                f"""
listeners={listeners},ASTRAY://{self.astray_servers},CONTROLLER://{self.controller}
advertised.listeners={listeners},ASTRAY://127.0.0.1:1
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,ASTRAY:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL,TLS:SSL
ssl.keystore.type=PEM
ssl.keystore.location={folder / "server.pem"}
ssl.truststore.type=PEM
ssl.truststore.location={folder / "ca.pem"}
listener.name.tls.ssl.client.auth=required
{of_sasl}sasl.enabled.mechanisms={",".join(MECHANISMS)}
{of_sasl}plain.sasl.jaas.config={_SECURITY}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";
{of_sasl}scram-sha-256.sasl.jaas.config={_SECURITY}.scram.ScramLoginModule required;
{of_sasl}scram-sha-512.sasl.jaas.config={_SECURITY}.scram.ScramLoginModule required;
{of_sasl}oauthbearer.sasl.jaas.config={_OAUTH}.OAuthBearerLoginModule required;
{of_sasl}oauthbearer.sasl.server.callback.handler.class={_OAUTH}.OAuthBearerValidatorCallbackHandler
sasl.oauthbearer.jwt.validator.class={_OAUTH}.BrokerJwtValidator
sasl.oauthbearer.jwks.endpoint.url={jwks.as_uri()}
sasl.oauthbearer.expected.audience={AUDIENCE}
{of_sasl}oauthbearer.connections.max.reauth.ms=3600000
"""
            )

    def start(self) -> int:
        process = super().start()
        from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            change = UserScramCredentialUpsertion(USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
            for done in admin.alter_user_scram_credentials([change]).values():
                done.result()
        return process

    def login(self, mechanism: str, *, password: str = PASSWORD, token: str | None = None) -> dict[str, Any]:
        """Settings of a client that logs in; a file that holds `token` is made anew."""
        sasl = {"bootstrap_servers": self.sasl_servers, "security_protocol": "SASL_SSL", "sasl_mechanism": mechanism}
        trusting = sasl | {"ssl_cafile": str(self.folder / "ca.pem")}
        if mechanism != "OAUTHBEARER":
            return trusting | {"sasl_username": USER, "sasl_password": password}
        file = self.folder / f"token-{uuid.uuid4().hex}"
        file.write_text(token or self.token())
        return trusting | {"sasl_token_command": ["cat", str(file)]}

    def tls(self, **certificate: str) -> dict[str, Any]:
        """Settings of a client that shows a certificate, or none."""
        tls = {"bootstrap_servers": self.tls_servers, "security_protocol": "SSL"}
        return tls | {"ssl_cafile": str(self.folder / "ca.pem")} | certificate

    def client_certificate(self, name: str, *, expired: bool = False) -> dict[str, str]:
        """The settings of a certificate that the broker's authority signed, and its key."""
        now = datetime.now(UTC)
        begin, end = now - timedelta(days=2), now + timedelta(days=-1 if expired else 1)
        leaf = self.ca.issue_cert(f"{name}.example.com", common_name=name, not_before=begin, not_after=end)
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        certificate.write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
        leaf.private_key_pem.write_to_path(key)
        return {"ssl_certfile": str(certificate), "ssl_keyfile": str(key)}

    def encrypted(self, key: str) -> Path:
        """The key in a file that `PASSWORD` opens."""
        file = Path(f"{key}.encrypted")
        private = serialization.load_pem_private_key(Path(key).read_bytes(), None)
        encryption = serialization.BestAvailableEncryption(PASSWORD.encode())
        form = serialization.PrivateFormat.PKCS8
        file.write_bytes(private.private_bytes(serialization.Encoding.PEM, form, encryption))
        return file

    def token(self, *, seconds: float = 600, audience: str = AUDIENCE) -> str:
        """A JWT that the broker takes, as an identity provider signs it. Connections end with its life."""
        now = time.time()
        claims = {"sub": USER, "aud": audience, "iat": int(now) - 60, "exp": int(now + seconds)}
        signed = f"{_part({'alg': 'RS256', 'kid': 'test'})}.{_part(claims)}"
        return f"{signed}.{_encoded(self._signing_key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    def _write_server_key(self) -> None:
        leaf = self.ca.issue_cert("127.0.0.1")
        key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
        # Java reads no other form.
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self.folder / "server.pem").write_bytes(pem + b"".join(blob.bytes() for blob in leaf.cert_chain_pems))

    def _public_key(self) -> dict[str, str]:
        public = self._signing_key.public_key().public_numbers()
        number = {"n": _encoded(public.n.to_bytes(256, "big")), "e": _encoded(public.e.to_bytes(3, "big"))}
        return {"kty": "RSA", "kid": "test", "alg": "RS256", "use": "sig", **number}


def _part(claims: dict[str, Any]) -> str:
    return _encoded(json.dumps(claims).encode())


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
