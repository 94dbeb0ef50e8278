"""TLS: what goes over the network is encrypted, and the client knows to whom it talks."""

import logging
import socket
import ssl

import pytest

from brainsmith.errors import RemoteError, UsageError
from brainsmith.runtime.serving.server import TargetServer
from brainsmith.runtime.serving.service import Service
from tests.runtime.serving.served import CERTIFICATE, KEY, TOKEN, answer_on, raw, says, served
from tests.targets.remote_clients import LOCAL, MODEL, X, connected, local, same


@pytest.fixture(scope="module")
def server():
    with served(LOCAL, token=TOKEN, certificate=CERTIFICATE, key=KEY) as made:
        yield made


def test_results_are_the_same_over_it(server, caplog):
    assert server.url.startswith("https://127.0.0.1:")
    for verify, warnings in ((CERTIFICATE, 0), (False, 1)):
        caplog.clear()
        with (
            caplog.at_level(logging.WARNING, "brainsmith.targets"),
            connected(server.url, token=TOKEN, verify=verify) as manager,
        ):
            same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))
        assert [record.getMessage() for record in caplog.records] == [
            f"the certificate of {server.url} is not verified: all data can be read and changed on the way"
        ] * warnings


def test_the_settings_say_whom_to_trust(server, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_REMOTE_VERIFY", CERTIFICATE)
    with connected(server.url, token=TOKEN) as manager:
        assert manager.active.describe() == f"numpy at {server.url}, over HTTP"


def test_a_certificate_that_nobody_here_trusts(server, tmp_path):
    untrusted = (
        "{} has a certificate that is not trusted here: {}; set BRAINSMITH_REMOTE_VERIFY or verify= to the file of it, or "
        "of the authority that signed it"
    )
    with pytest.raises(RemoteError) as error:
        connected(server.url, token=TOKEN).__enter__()
    assert str(error.value) == untrusted.format(server.url, "self-signed certificate")
    with (
        served(LOCAL, host="127.0.0.2", certificate=CERTIFICATE, key=KEY) as other,
        pytest.raises(RemoteError) as error,
    ):
        connected(other.url, verify=CERTIFICATE).__enter__()
    assert str(error.value) == untrusted.format(
        other.url, "IP address mismatch, certificate is not valid for '127.0.0.2'"
    )
    with pytest.raises(RemoteError) as error:
        connected(server.url, token=TOKEN, verify=str(tmp_path / "no.pem")).__enter__()
    assert (
        str(error.value) == f"the certificate {tmp_path / 'no.pem'} cannot be used: No such file or directory"
    )


def test_one_end_without_it(server):
    with pytest.raises(RemoteError) as error:
        connected(server.url.replace("https:", "http:"), token=TOKEN).__enter__()
    assert " ended the connection during the question for its target: " in str(error.value)
    with served(LOCAL) as plain:
        url = plain.url.replace("http:", "https:")
        with pytest.raises(RemoteError) as error:
            connected(url).__enter__()
    assert str(error.value).startswith(f"no target is served at {url}: the TLS handshake failed (")


@pytest.mark.slow
def test_strangers_do_not_stay():
    with served(LOCAL, certificate=CERTIFICATE, key=KEY, seconds=0.3) as server:
        assert raw(server, b"") == b""  # a handshake has the time of a request


def test_strangers_learn_nothing(server):
    assert raw(server, b"GET /target HTTP/1.1\r\nHost: localhost\r\n\r\n") == b""
    context = ssl.create_default_context(cafile=CERTIFICATE)
    with (
        socket.create_connection(server.address[:2], timeout=10) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as encrypted,
    ):
        assert encrypted.version() in ("TLSv1.2", "TLSv1.3")
        encrypted.sendall(b"GET /target HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n")
        assert says(answer_on(encrypted)) == (401, "the token is missing")


def test_certificates_that_cannot_be_used(tmp_path):
    service = Service(LOCAL)
    (tmp_path / "x.pem").write_text("x")
    for files, wrong in (
        ((str(tmp_path / "x.pem"), None), ""),
        ((CERTIFICATE, CERTIFICATE), f" with the key {CERTIFICATE}"),
    ):
        with pytest.raises(UsageError) as error:
            TargetServer(service, "127.0.0.1", 0, "", *files)
        assert str(error.value).startswith(f"the certificate {files[0]}{wrong} cannot be used: ")
        assert str(error.value).endswith(
            "; both must be PEM files, the key of this certificate and without a password"
        )
    service.close()
