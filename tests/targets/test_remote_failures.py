"""The target `remote` where the served target, its server or the way to it fails: what is told, and that all goes on."""

import re
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from brainsmith.errors import (
    RemoteError,
)
from brainsmith.targets import ResourceManager
from tests.runtime.serving.served import TOKEN, served
from tests.runtime.toys import toy
from tests.targets.remote_clients import LOCAL, MODEL, X, connected, local, same, works_on

TOKENLESS = "; set BRAINSMITH_REMOTE_TOKEN or remote_token_file to the one with which the server was started"


def test_a_wrong_token():
    with served(LOCAL, token=TOKEN) as server:
        for given, what in (({}, "is missing"), ({"token": "another-token-of-someone"}, "is wrong")):
            with pytest.raises(RemoteError) as error:
                connected(server.url, **given).__enter__()
            assert str(error.value) == f"{server.url} requires its token: the token {what}{TOKENLESS}"
        with connected(server.url, token=TOKEN) as manager:
            same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_nobody_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for address, reason in (
            (url, "Connection refused"),
            ("http://no.invalid:1", "there is no such host"),
        ):
            with ResourceManager({"device": LOCAL, "targets": {"remote": {"url": address}}}) as manager:
                with pytest.raises(RemoteError) as error:
                    manager.switch_plugin("remote")
                assert str(error.value) == (
                    f"no target is served at {address}: {reason}; start one there with brainsmith serve-target "
                    "TARGET, or set BRAINSMITH_REMOTE_URL or url= to its address"
                )
                same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_too_large_to_be_sent():
    with served(LOCAL, megabytes=0.001) as server, connected(server.url) as manager:
        with pytest.raises(RemoteError) as error:
            manager.prepare_resource(MODEL)
        assert re.fullmatch(
            rf"{server.url} takes 0\.001 MB at once, and the model has 0\.00\d+: start it with a larger --limit-mb, or "
            "give fewer samples at once",
            str(error.value),
        )
        works_on(manager)
    with served(LOCAL, megabytes=0.1) as server, connected(server.url, limit_mb=0.1) as manager:
        prepared = manager.prepare_resource(MODEL)
        large = np.zeros((5000, 6), np.float32)
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, large)
        assert str(error.value) == (
            f"{server.url} takes 0.1 MB at once, and execute has 0.12: start it with a larger --limit-mb, or give "
            "fewer samples at once"
        )
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, large[:4000], keep=None)
        assert re.fullmatch(
            rf"{server.url} answers execute with [\d,]+ bytes, and at most 100,000 are accepted: give fewer samples at "
            "once, or a larger limit_mb=",
            str(error.value),
        )
        same(manager.execute(prepared, X), local(MODEL, X))
        works_on(manager)


@pytest.mark.slow
def test_the_server_does_not_believe_a_client_that_sends_too_much():
    with served(LOCAL, megabytes=0.1) as server, connected(server.url) as manager:
        prepared = manager.prepare_resource(MODEL)
        manager.active._served = replace(manager.active._served, megabytes=1000)
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, np.zeros((500_000, 6), np.float32))
        assert re.fullmatch(
            rf"{server.url}: a request of 12,000,\d\d\d bytes is too large: at most 100,000 are accepted; --limit-mb "
            "of the server allows more",
            str(error.value),
        )
        same(manager.execute(prepared, X), local(MODEL, X))


@pytest.mark.slow
def test_a_target_that_is_too_slow():
    release = threading.Event()

    def execute(self, prepared, inputs, **kwargs):
        release.wait(10)
        return {"y": inputs["x"]}

    toy("Slow", execute=execute)
    with served("slow", seconds=0.5) as server, connected(server.url) as manager:
        with pytest.raises(RemoteError) as error:
            manager.execute(manager.prepare_resource(MODEL), [[1.0, 2.0]])
        assert str(error.value) == (
            f"{server.url}: the target did not finish within 0.5 s; it goes on, so the same request may succeed later; "
            "--timeout of the server allows more"
        )
        release.set()
        works_on(manager)


@pytest.mark.slow
def test_an_answer_that_is_late():
    release = threading.Event()
    toy("Slow", execute=lambda self, prepared, inputs: release.wait(10) and {"y": inputs["x"]})
    with served("slow") as server, connected(server.url, timeout=0.5) as manager:
        prepared = manager.prepare_resource(MODEL)
        begin = time.perf_counter()
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, [[1.0, 2.0]])
        assert time.perf_counter() - begin < 8
        assert str(error.value) == (
            f"{server.url} did not answer execute within 0.5 s; BRAINSMITH_REMOTE_TIMEOUT or timeout= allows more"
        )
        release.set()
        assert manager.execute(prepared, [[1.0, 2.0]])["y"].tolist() == [[1.0, 2.0]]


@pytest.mark.slow
def test_a_server_that_was_started_anew_gets_the_model_again():
    with served(LOCAL) as server, connected(server.url) as manager:
        prepared = manager.prepare_resource(MODEL)
        port = server.address[1]
        server.close()
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, X)
        assert str(error.value).startswith(f"no target is served at {server.url}: Connection refused; ")
        works_on(manager)
        with served(LOCAL, port=port):
            same(manager.execute(prepared, X), local(MODEL, X))


DYING = """
import os, sys
from brainsmith.runtime.serving.server import TargetServer
from brainsmith.runtime.serving.service import Service
service = Service("numpy")
with TargetServer(service, port=0) as server:
    print(server.url, flush=True)
    sys.stdin.readline()
    service.execute = lambda *given: os._exit(1)
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    "connection",
    ["kept", pytest.param("new", marks=pytest.mark.slow)],
)
def test_a_server_that_dies_midway(connection, monkeypatch):
    if connection == "new":  # none is kept
        monkeypatch.setattr("brainsmith.runtime.serving.client.IDLE_SECONDS", 0)
    command = [sys.executable, "-c", DYING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        with connected(url, timeout=10) as manager:
            prepared = manager.prepare_resource(MODEL)
            same(manager.execute(prepared, X), local(MODEL, X))
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            with pytest.raises(RemoteError) as error:
                manager.execute(prepared, X)
            assert re.fullmatch(
                rf"{url} ended the connection during execute: "
                "(Server disconnected without sending a response|Connection reset by peer); "
                "look for the cause there, and start it again with brainsmith serve-target",
                str(error.value),
            )
            process.wait(10)
            with pytest.raises(RemoteError, match="no target is served"):
                manager.execute(prepared, X)
            works_on(manager)
