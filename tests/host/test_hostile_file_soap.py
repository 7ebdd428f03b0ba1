"""An ESXi host whose answer is none: bounded in time and memory, one error of ours."""

import datetime
import hashlib
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from hostile_reader import wirespeed
from wirespeed.host import vsphere
from wirespeed.host.vsphere_stub import MAX_ANSWER_BYTES

SOAP = (
    b'<?xml version="1.0"?><soapenv:Envelope '
    b'xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
)
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "'
    + b"ha" * 40
    + b'">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 20) for n in range(9))
    + b"]><l>&j;</l>"
)
SHAPES = {
    "garbage": b"\0" * 1000,
    "nothing": b"",
    "one tag in another": SOAP + b"<a>" * ((MAX_ANSWER_BYTES - len(SOAP)) // 3),
    "one text": SOAP + b"<a>" + b"x" * (MAX_ANSWER_BYTES - 1000),
    "20 MB": SOAP + b"<a>" * (7 << 20),
    "an expanding entity": LAUGHS,
    "an answer to something else": SOAP + b"<a/></soapenv:Body></soapenv:Envelope>",
}  # fmt: skip


def server(body: bytes, folder: Path, *, packed: bool = False, more: int = 0) -> tuple[int, str]:
    """Answer each request with `body`, and with `more` blanks behind it; its port and SHA-256."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "esxi")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, SHA256())
    )  # fmt: skip
    pem = folder / "esxi.pem"
    pem.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + signed.public_bytes(Encoding.PEM)
    )

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body) + more))
            self.end_headers()
            try:
                self.wfile.write(body)
                for _ in range(more >> 20):
                    self.wfile.write(b" " * (1 << 20))
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.daemon_threads = True
    serving.socket = context.wrap_socket(serving.socket, server_side=True)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    SERVERS.append(serving)
    digest = hashlib.sha256(signed.public_bytes(Encoding.DER)).hexdigest()
    return serving.server_address[1], digest


SERVERS: list[ThreadingHTTPServer] = []


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    while SERVERS:
        one = SERVERS.pop()
        one.shutdown()
        one.server_close()


def asked(port: int, digest: str):
    environment = {vsphere.THUMBPRINT: digest, vsphere.PASSWORD: "none"}
    return wirespeed("doctor", f"vsphere://root@127.0.0.1:{port}", environment=environment)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_is_the_answer_of_an_esxi_host(shape: str, tmp_path: Path):
    done = asked(*server(SHAPES[shape], tmp_path))
    assert done.returncode == 1 and "Traceback" not in done.stderr + done.stdout
    assert "vsphere.lost" in done.stdout + done.stderr and done.is_bounded


def test_a_hostile_file_of_an_esxi_host_has_no_end(tmp_path: Path):
    done = asked(*server(SOAP, tmp_path, more=MAX_ANSWER_BYTES + (8 << 20)))
    assert "its answer has more than 4 MiB" in " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1 and done.is_bounded


def test_a_hostile_file_of_an_esxi_host_is_packed(tmp_path: Path):
    done = asked(*server(b"\x1f\x8b" + b"\0" * 100, tmp_path, packed=True))
    assert "its answer is packed: gzip" in " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
