"""A web server on a port of this machine in the place of a Windows host: it lets nobody in."""

import base64
import contextlib
import datetime
import http.server
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass
class Stranger:
    """What it was sent: of each request, the proof that it carried, decoded."""

    port: int = 0
    proofs: list[bytes] = field(default_factory=list)


@contextlib.contextmanager
def stranger(offers: str = "Negotiate", certificate: Path | None = None) -> Iterator[Stranger]:
    """Serve HTTP, or HTTPS with that certificate, and refuse every request with 401."""
    seen = Stranger()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            proof = self.headers.get("Authorization", " ").partition(" ")[2]
            seen.proofs.append(base64.b64decode(proof))
            self.send_response(401)
            self.send_header("WWW-Authenticate", offers)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that trusts no such certificate hangs up."""

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    seen.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def self_signed(path: Path) -> Path:
    """Make a certificate of 127.0.0.1 that signs itself, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    none = serialization.NoEncryption()
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, none)
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path
