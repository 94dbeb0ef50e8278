"""The target `remote` before servers that answer wrongly: nothing of it is believed, and all is told."""

import gzip
import json
import socket
import threading
import time

import numpy as np
import pytest

from brainsmith.errors import (
    RemoteError,
)
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.runtime.serving.wire import DTYPES, encode
from brainsmith.targets import Capabilities, ResourceManager
from tests.runtime.serving.test_wire import file
from tests.targets.remote_clients import LOCAL, MODEL, X, connected, works_on

SIGNATURE = ModelSignature((TensorSpec("x", (1, 6)),), (TensorSpec("m1", (1, 3)),)).to_plain()
TARGET = {
    "name": "numpy",
    "capabilities": {"bit_exact": True, "of the future": True},
    "device_ids": None,
    "megabytes": 64,
}
VERSION = "Brainsmith-Protocol: 2\r\n"


def http(body, *, status="200 OK", version=VERSION, kind="application/json", length=None):
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    head = (
        f"HTTP/1.1 {status}\r\n{version}Content-Type: {kind}\r\nContent-Length: {length or len(body)}\r\n\r\n"
    )
    return head.encode() + body


def outputs(**arrays):
    return http(encode({}, arrays), kind="application/x-safetensors")


class Last(bytes):
    """An answer after which the server ends the connection, without saying so."""


class Liar:
    """A server that says what it is told to."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while self.answers:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as asked:
                while self.answers and self.take(asked):
                    answer = self.answers.pop(0)
                    try:
                        for piece in answer if isinstance(answer, list) else [answer]:
                            connection.sendall(piece)
                            time.sleep(0.06 if isinstance(answer, list) else 0)
                    except OSError:
                        break
                    if not answer or isinstance(answer, Last):
                        break

    @staticmethod
    def take(asked):
        length = 0
        while (line := asked.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        asked.read(length)
        return bool(line)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.answers.clear()
        self.socket.close()


NO_SERVER = (
    "{url} does not answer the question for its target as brainsmith serve-target does: {what}; see which program "
    "listens there"
)
OTHER_VERSION = (
    "{url} speaks version 1 of the protocol, and this client 2: install the same version of brainsmith at both "
    "ends"
)
CUT = "peer closed connection without sending complete message body (received {} bytes, expected {})"
BROKE_OFF = "{{url}} ended the connection during {doing}: {what}; {advice}".replace(
    "{advice}", "look for the cause there, and start it again with brainsmith serve-target"
)
FIRST = {
    "another server": (
        http(b"<html>", version="", kind="text/html", status="404 Not Found"),
        (NO_SERVER, "no Brainsmith-Protocol beside status 404"),
    ),
    "no HTTP": (
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        (NO_SERVER, "no HTTP (illegal status line: bytearray(b'SSH-2.0-OpenSSH_9.2'))"),
    ),
    "another version": (http({}, version="Brainsmith-Protocol: 1\r\n"), (OTHER_VERSION, "")),
    "no JSON": (http(b"\x80\x04K\x01."), (NO_SERVER, "it is not JSON: ")),
    "compressed": (
        http(gzip.compress(json.dumps(TARGET).encode()), version=f"{VERSION}Content-Encoding: gzip\r\n"),
        (NO_SERVER, "it is not JSON: "),
    ),
    "somewhere else": (
        http({}, version=f"{VERSION}Location: /elsewhere\r\n", status="307 x"),
        (NO_SERVER, "no message beside status 307"),
    ),
    "pieces of any length": (
        f"HTTP/1.1 200 OK\r\n{VERSION}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{{}}\r\n".encode(),
        (NO_SERVER, "no Content-Length"),
    ),
    "no length": (
        f"HTTP/1.1 200 OK\r\n{VERSION}\r\n{{}}".encode(),
        (NO_SERVER, "no Content-Length"),
    ),
    "nothing of a target": (
        http({}),
        (
            "{url} does not answer as a served target does: {what}",
            "no description of its target (KeyError('capabilities'))",
        ),
    ),
    "a list for capabilities": (
        http({**TARGET, "capabilities": None}),
        ("{url} does not answer as a served target does: {what}", "no description of its target (TypeError("),
    ),
    "half": (
        http({}, length=100),
        (BROKE_OFF.format(doing="the question for its target", what=CUT.format(2, 100)), ""),
    ),
    "too much": (
        http({}, length=10**12),
        (
            "{url} answers the question for its target with 1,000,000,000,000 bytes, and at most 16,777,216 are accepted: "
            "give fewer samples at once, or a larger limit_mb=",
            "",
        ),
    ),
    "an error without words": (
        http({"error": 7}, status="500 x"),
        (
            NO_SERVER,
            "no message beside status 500",
        ),
    ),
    "an older protocol": (
        http({"error": "version", "message": "Brainsmith-Protocol must be 0, not '2'"}, status="400 x"),
        (
            "{url} does not speak version 2 of the protocol: install the same version of brainsmith at both ends",
            "",
        ),
    ),
}


@pytest.mark.parametrize("case", FIRST)
def test_what_answers_is_no_server(case):
    answer, (message, what) = FIRST[case]
    with (
        Liar(answer) as liar,
        ResourceManager({"device": LOCAL, "targets": {"remote": {"url": liar.url, "timeout": 5}}}) as manager,
    ):
        with pytest.raises(RemoteError) as error:
            manager.switch_plugin("remote")
        expected = message.format(url=liar.url, what=what)
        if what.endswith((": ", "(")):
            assert str(error.value).startswith(expected.partition(what)[0] + what)
        else:
            assert str(error.value) == expected
        works_on(manager)


WRONG = "does not answer as a served target does: its target 'numpy' must"
LATER = {
    "no outputs": (outputs(), f"{WRONG} return output 'm1' float32 (40, 3); it returned nothing"),
    "another shape": (
        outputs(m1=np.zeros((40, 4), np.float32)),
        f"{WRONG} return output 'm1' float32 (40, 3), not float32 (40, 4)",
    ),
    "fewer samples": (
        outputs(m1=np.zeros((39, 3), np.float32)),
        f"{WRONG} return output 'm1' float32 (40, 3), not float32 (39, 3)",
    ),
    "another type": (
        outputs(m1=np.zeros((40, 3), np.float64)),
        f"{WRONG} return output 'm1' float32 (40, 3), not float64 (40, 3)",
    ),
    "more than was asked for": (
        outputs(m1=np.zeros((40, 3), np.float32), m0=np.zeros(1)),
        f"{WRONG} return 'm1' and nothing else; it returned 'm0' too",
    ),
    "objects": (
        http(
            file({"m1": {"dtype": "C64", "shape": [15], "data_offsets": [0, 120]}}, bytes(120)),
            kind="application/x-safetensors",
        ),
        f"does not answer execute as brainsmith serve-target does: the dtype of array 'm1' must be "
        f"{', '.join(DTYPES)}, not C64; see which program listens there",
    ),
    "half": (
        outputs(m1=np.zeros((40, 3), np.float32))[:-182],
        BROKE_OFF.format(doing="execute", what=CUT.format(418, 600)).removeprefix("{url} "),
    ),
    "the end": (
        (b"", outputs(m1=np.zeros((40, 3), np.float32))),  # it is not asked a second time
        "ended the connection during execute: Server disconnected without sending a response; look for the cause there, "
        "and start it again with brainsmith serve-target",
    ),
    "drop by drop": (
        [bytes([byte]) for byte in outputs(m1=np.zeros((40, 3), np.float32))],
        "did not answer execute within 0.5 s; BRAINSMITH_REMOTE_TIMEOUT or timeout= allows more",
    ),
    "an unknown error": (
        http({"error": "SystemExit", "message": "go away"}, status="418 x"),
        ": go away",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LATER)
def test_a_server_that_answers_wrongly_later(case):
    answer, message = LATER[case]
    prepared = http({"prepared": "p", "signature": SIGNATURE})
    answers = answer if isinstance(answer, tuple) else (answer,)
    with (
        Liar(http(TARGET), prepared, *answers) as liar,
        connected(liar.url, timeout=0.5 if case == "drop by drop" else 10) as manager,
    ):
        assert manager.active.get_capabilities() == Capabilities(bit_exact=True)
        made = manager.prepare_resource(MODEL)
        with pytest.raises(RemoteError) as error:
            manager.execute(made, X)
        found = str(error.value)
        assert found.startswith(liar.url)
        assert found == f"{liar.url}{'' if message[0] == ':' else ' '}{message}"
        works_on(manager)


@pytest.mark.parametrize("idle", [0.05, 60])  # the client notices that it is old, or that it was closed
def test_a_connection_that_was_closed_for_idleness_is_not_the_end(monkeypatch, idle):
    monkeypatch.setattr("brainsmith.runtime.serving.client.IDLE_SECONDS", idle)
    answer = outputs(m1=np.ones((40, 3), np.float32))
    prepared = http({"prepared": "p", "signature": SIGNATURE})
    last = Last(prepared) if idle == 60 else prepared
    with Liar(http(TARGET), last, answer) as liar, connected(liar.url, timeout=10) as manager:
        made = manager.prepare_resource(MODEL)
        time.sleep(0.1)
        assert (manager.execute(made, X)["m1"] == 1).all()


@pytest.mark.parametrize(
    "said", [{}, {"prepared": "p", "signature": {"inputs": 1}}, {"prepared": "p", "signature": 5}]
)
def test_a_server_that_prepares_nothing(said):
    with Liar(http(TARGET), http(said)) as liar, connected(liar.url, timeout=5) as manager:
        with pytest.raises(RemoteError) as error:
            manager.prepare_resource(MODEL)
        assert str(error.value).startswith(
            f"{liar.url} does not answer as a served target does: no prepared resource ("
        )
