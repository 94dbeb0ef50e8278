"""The target `remote`: results of the served target bit for bit, and every way in which a server can let one down."""

import json
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from brainsmith.errors import (
    DeviceError,
    InputError,
    ModelError,
    RemoteError,
    SettingsError,
    TargetError,
    TargetUnavailableError,
    UnsupportedResourceError,
    WireError,
)
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.runtime.serving.wire import DTYPES, encode
from brainsmith.targets import Capabilities, Prepared, ResourceManager, list_plugins
from tests.build import graphs
from tests.runtime.serving.served import TOKEN, served
from tests.runtime.toys import toy

MODEL = graphs.quant_mlp()
X = graphs.samples(MODEL)
LOCAL = "numpy"


@contextmanager
def connected(url, device="remote", **arguments):
    """A manager whose active target is a served one."""
    config = {"device": device, "targets": {"remote": {"url": url, **arguments}}}
    with ResourceManager(config) as manager:
        yield manager


@pytest.fixture
def server():
    with served(LOCAL) as made:
        yield made


@pytest.fixture
def manager(server):
    with connected(server.url, timeout=10) as made:
        yield made


def local(model, x, name=LOCAL, **kwargs):
    with ResourceManager({"device": name}) as manager:
        return manager.execute(manager.prepare_resource(model), x, **kwargs)


def same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def works_on(manager):
    """Whether a manager executes here, after whatever happened there."""
    prepared = manager.prepare_resource(MODEL, device=LOCAL)
    same(manager.execute(prepared, X), local(MODEL, X))


@pytest.mark.parametrize("name", ["numpy", "onnxruntime", "reference"])
def test_results_are_those_of_the_served_target(name):
    for model in (MODEL, graphs.quant_cnn()):
        x = graphs.samples(model, 5)
        with served(name) as server, connected(server.url) as manager:
            prepared = manager.prepare_resource(model)
            assert prepared.signature is not None
            same(manager.execute(prepared, x), local(model, x, name))
            same(manager.execute(prepared, x, keep=None), local(model, x, name, keep=None))


def test_tensors_inside_are_kept(manager):
    prepared = manager.prepare_resource(MODEL)
    everything = manager.execute(prepared, X, keep=None)
    inside = [name for name in everything if name != "m1"]
    same(manager.execute(prepared, X, keep=inside[:2]), local(MODEL, X, keep=inside[:2]))
    with pytest.raises(InputError) as error:
        manager.execute(prepared, X, keep=["nothing"])
    assert str(error.value) == f"there is no tensor 'nothing' to keep; there are {', '.join(inside)}"


@pytest.fixture
def mirror():
    """A manager whose target is served, and returns its inputs."""
    toy(
        "Mirror",
        prepare_resource=lambda self, resource, config=None: Prepared(target=self, signature=None, payload=0),
        execute=lambda self, prepared, inputs: dict(inputs),
    )
    with served("mirror") as server, connected(server.url) as made:
        yield made


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(max_size=6),
        st.sampled_from(DTYPES).flatmap(
            lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
        ),
        max_size=3,
    )
)
def test_all_arrays_come_back_as_they_went(mirror, arrays):
    same(mirror.execute(mirror.prepare_resource(MODEL), arrays), arrays)


def test_an_array_for_a_model_of_unknown_inputs_needs_a_name(mirror):
    with pytest.raises(TargetError) as error:
        mirror.execute(mirror.prepare_resource(MODEL), X)
    assert str(error.value) == (
        "target 'remote' failed in execute: the served target does not say what its inputs are, so they must be given "
        "by name"
    )


def test_a_model_is_sent_once(server, manager, monkeypatch):
    sent = []
    store = server.service.store
    monkeypatch.setattr(server.service, "store", lambda *given: sent.append(given[0]) or store(*given))
    prepared = manager.prepare_resource(MODEL)
    assert manager.prepare_resource(MODEL.model.SerializeToString(), {"faithful": True}) is not prepared
    with connected(server.url, limit_mb=7) as other:
        same(other.execute(other.prepare_resource(MODEL), X), manager.execute(prepared, X))
    assert len(sent) == 1


def test_weights_in_other_files_are_sent_with_the_model(manager, tmp_path):
    file = tmp_path / "m.onnx"
    model = onnx.ModelProto()
    model.CopyFrom(MODEL.model)
    onnx.save(model, file, save_as_external_data=True, location="w.bin", size_threshold=0)
    same(manager.execute(manager.prepare_resource(file), X), local(MODEL, X))


def test_capabilities_are_those_of_the_served_target():
    for wanted in (Capabilities(), Capabilities(True, True, True, True, True, True)):
        toy("Able", get_capabilities=lambda self, wanted=wanted: wanted)
        with served("able") as server, connected(server.url) as manager:
            assert manager.active.get_capabilities() == wanted
            if not wanted.intermediates:
                with pytest.raises(TargetError) as error:
                    manager.execute(manager.prepare_resource(MODEL), [[1.0, 2.0]], keep=None)
                assert str(error.value) == (
                    "target 'remote' cannot return tensors inside the model, so keep= cannot be given: it lacks the "
                    "capability intermediates"
                )
        from brainsmith.targets import get_registry

        get_registry().unregister("able")


def test_device_configuration_and_options_go_through():
    def execute(self, prepared, inputs, *, times=1):
        return {"y": inputs["x"] * np.float32(prepared.payload * times + self.device_id)}

    toy("Many", execute=execute)
    with served("many") as server, connected(server.url, "remote:3") as manager:
        prepared = manager.prepare_resource(MODEL, {"factor": 5.0})
        assert manager.execute(prepared, [[1.0, 2.0]])["y"].tolist() == [[8.0, 16.0]]
        assert manager.execute(prepared, [[1.0, 2.0]], times=2)["y"].tolist() == [[13.0, 26.0]]
        with pytest.raises(TargetError) as error:
            manager.execute(prepared, [[1.0, 2.0]], often=2)
        assert str(error.value).startswith(f"{server.url}: target 'many' failed in execute: TypeError: ")
        with pytest.raises(TargetError) as error:
            manager.prepare_resource(MODEL, {"factor": np.ones(2)})
        assert str(error.value) == (
            "target 'remote' failed in prepare_resource: only numbers, texts, lists and tables can be sent: Object of "
            "type ndarray is not JSON serializable"
        )


def test_a_device_that_is_not_there(server):
    with pytest.raises(DeviceError) as error:
        connected(server.url, "remote:2").__enter__()
    assert str(error.value) == f"target 'remote' has no device 2; 'numpy' at {server.url} has 0"


def test_without_an_address_it_says_what_to_set(monkeypatch):
    (info,) = [info for info in list_plugins(available_only=False) if info.name == "remote"]
    assert (info.available, info.reason) == (
        False,
        "no served target is configured: start one with brainsmith serve-target TARGET, and set BRAINSMITH_REMOTE_URL "
        "(remote_url: in the settings) to the address that it prints",
    )
    with pytest.raises(TargetUnavailableError) as error, ResourceManager({"device": "remote"}):
        pass
    assert str(error.value) == f"target 'remote' cannot be used here: {info.reason}"
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", "http://127.0.0.1:9")
    assert "remote" in [info.name for info in list_plugins()]


def test_the_settings_say_where_and_with_which_token(monkeypatch, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    with served(LOCAL, token=TOKEN) as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", f"{server.url}/")
        monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN_FILE", str(tmp_path / "token"))
        with ResourceManager({"device": "remote"}) as manager:
            same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"url": "ftp://there"},
            "SettingsError: argument remote_url: remote_url must be the address of a served target, such as "
            "http://127.0.0.1:8765, not 'ftp://there'",
        ),
        (
            {"url": "http://127.0.0.1:1", "timeout": 0},
            "SettingsError: argument remote_timeout: remote_timeout must be a number of seconds above 0, not 0",
        ),
        (
            {"url": "http://127.0.0.1:1", "token": "short"},
            "SettingsError: token= of the target remote must hold a token",
        ),
    ],
)
def test_arguments_that_cannot_be(arguments, message):
    with pytest.raises(TargetError) as error:
        connected(**arguments).__enter__()
    assert str(error.value).startswith(f"target 'remote' cannot be made: {message}")


@pytest.mark.parametrize(
    "url",
    [
        "http://there",
        "https://there:1",
        "http://u:p@there:1",
        "http://there:1/x",
        "there:1",
        "http://there:99999",
    ],
)
def test_addresses_that_cannot_be(url, monkeypatch):
    from brainsmith.settings import load_settings

    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", url)
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert str(error.value) == (
        "BRAINSMITH_REMOTE_URL: remote_url must be the address of a served target, such as http://127.0.0.1:8765, "
        f"not {url!r}"
    )


TOKENLESS = "; set BRAINSMITH_REMOTE_TOKEN or remote_token_file to the one with which the server was started"


def test_a_wrong_token():
    with served(LOCAL, token=TOKEN) as server:
        for given, what in (({}, "is missing"), ({"token": "another-token-of-someone"}, "is wrong")):
            with pytest.raises(RemoteError) as error:
                connected(server.url, **given).__enter__()
            assert (
                str(error.value)
                == f"{server.url} lets nobody in without its token: the token {what}{TOKENLESS}"
            )
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
                    f"nobody serves a target at {address}: {reason}; start one there with brainsmith serve-target "
                    "TARGET, or say with BRAINSMITH_REMOTE_URL or url= where it is"
                )
                same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_too_large_to_be_sent():
    with served(LOCAL, megabytes=0.001) as server, connected(server.url) as manager:
        with pytest.raises(RemoteError) as error:
            manager.prepare_resource(MODEL)
        assert re.fullmatch(
            rf"{server.url} takes 0\.001 MB at once, and the model has 0\.0: start it with a larger --limit-mb, or give "
            "fewer samples at once",
            str(error.value),
        )
        works_on(manager)
    with served(LOCAL, megabytes=0.1) as server, connected(server.url, limit_mb=0.1) as manager:
        prepared = manager.prepare_resource(MODEL)
        large = np.zeros((5000, 6), np.float32)
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, large)
        assert str(error.value) == (
            f"{server.url} takes 0.1 MB at once, and execute has 0.1: start it with a larger --limit-mb, or give "
            "fewer samples at once"
        )
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, large[:4000], keep=None)
        assert re.fullmatch(
            rf"{server.url} answers execute with [\d,]+ bytes, and at most 100,000 are taken: give fewer samples at "
            "once, or a larger limit_mb=",
            str(error.value),
        )
        same(manager.execute(prepared, X), local(MODEL, X))
        works_on(manager)


def test_the_server_does_not_believe_a_client_that_sends_too_much():
    with served(LOCAL, megabytes=0.1) as server, connected(server.url) as manager:
        prepared = manager.prepare_resource(MODEL)
        manager.active._served["megabytes"] = 1000
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, np.zeros((500_000, 6), np.float32))
        assert re.fullmatch(
            rf"{server.url}: a request of 12,000,\d\d\d bytes is too large: at most 100,000 are taken; --limit-mb of the "
            "server allows more",
            str(error.value),
        )
        same(manager.execute(prepared, X), local(MODEL, X))


def test_a_target_that_is_too_slow():
    release = threading.Event()

    def execute(self, prepared, inputs, **kwargs):
        release.wait(10)
        return {"y": inputs["x"]}

    toy("Slow", execute=execute)
    with served("slow", seconds=0.3) as server, connected(server.url) as manager:
        with pytest.raises(RemoteError) as error:
            manager.execute(manager.prepare_resource(MODEL), [[1.0, 2.0]])
        assert str(error.value) == (
            f"{server.url}: the target was not done within 0.3 s; it goes on, so the same request may succeed later; "
            "--timeout of the server allows more"
        )
        release.set()
        works_on(manager)


def test_an_answer_that_is_late():
    release = threading.Event()
    toy("Slow", execute=lambda self, prepared, inputs: release.wait(10) and {"y": inputs["x"]})
    with served("slow") as server, connected(server.url, timeout=0.3) as manager:
        prepared = manager.prepare_resource(MODEL)
        begin = time.perf_counter()
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, [[1.0, 2.0]])
        assert time.perf_counter() - begin < 3
        assert str(error.value) == (
            f"{server.url} did not answer execute within 0.3 s; BRAINSMITH_REMOTE_TIMEOUT or timeout= allows more"
        )
        release.set()
        assert manager.execute(prepared, [[1.0, 2.0]])["y"].tolist() == [[1.0, 2.0]]


def test_a_server_that_was_started_anew_gets_the_model_again():
    with served(LOCAL) as server, connected(server.url) as manager:
        prepared = manager.prepare_resource(MODEL)
        port = server.server_address[1]
        server.close()
        with pytest.raises(RemoteError) as error:
            manager.execute(prepared, X)
        assert str(error.value).startswith(f"nobody serves a target at {server.url}: Connection refused; ")
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


def test_a_server_that_dies_midway():
    command = [sys.executable, "-c", DYING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        with connected(url, timeout=10) as manager:
            prepared = manager.prepare_resource(MODEL)
            same(manager.execute(prepared, X), local(MODEL, X))
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            with connected(url, limit_mb=5) as other:  # whose connection was not used before
                again = other.prepare_resource(MODEL)
                other.active._client.close()
                with pytest.raises(RemoteError) as error:
                    other.execute(again, X)
            assert re.fullmatch(
                rf"{url} broke off in execute: (Remote end closed connection without response|Connection reset by peer); "
                "see there why it ended, and start it again with brainsmith serve-target",
                str(error.value),
            )
            process.wait(10)
            with pytest.raises(RemoteError, match="nobody serves a target"):
                manager.execute(prepared, X)
            works_on(manager)


SIGNATURE = ModelSignature((TensorSpec("x", (1, 6)),), (TensorSpec("m1", (1, 3)),)).to_plain()
TARGET = {
    "name": "numpy",
    "capabilities": {"bit_exact": True, "of the future": True},
    "device_ids": None,
    "megabytes": 64,
}
VERSION = "Brainsmith-Protocol: 1\r\n"


def http(body, *, status="200 OK", version=VERSION, kind="application/json", length=None):
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    head = (
        f"HTTP/1.1 {status}\r\n{version}Content-Type: {kind}\r\nContent-Length: {length or len(body)}\r\n\r\n"
    )
    return head.encode() + body


def outputs(**arrays):
    return http(b"".join(encode({}, arrays)), kind="application/x-brainsmith-frame")


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
                    if not answer:
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


NO_SERVER = "{url} answers the question for its target as no brainsmith serve-target does: {what}; see what listens there"
OTHER_VERSION = (
    "{url} speaks version 2 of the protocol, and this client 1: install the same version of brainsmith at both "
    "ends"
)
FIRST = {
    "another server": (
        http(b"<html>", version="", kind="text/html", status="404 Not Found"),
        (NO_SERVER, "no Brainsmith-Protocol beside status 404"),
    ),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", (NO_SERVER, "no HTTP (BadStatusLine)")),
    "another version": (http({}, version="Brainsmith-Protocol: 2\r\n"), (OTHER_VERSION, "")),
    "no JSON": (http(b"\x80\x04K\x01."), (NO_SERVER, "it is no JSON: ")),
    "no length": (
        f"HTTP/1.1 200 OK\r\n{VERSION}\r\n{{}}".encode(),
        (NO_SERVER, "no Content-Length"),
    ),
    "nothing of a target": (
        http({}),
        (
            "{url} answers as no served target does: {what}",
            "no description of its target (KeyError('capabilities'))",
        ),
    ),
    "a list for capabilities": (
        http({**TARGET, "capabilities": None}),
        ("{url} answers as no served target does: {what}", "no description of its target (TypeError("),
    ),
    "half": (
        http({}, length=100),
        (NO_SERVER, "98 bytes are missing at its end"),
    ),
    "too much": (
        http({}, length=10**12),
        (
            "{url} answers the question for its target with 1,000,000,000,000 bytes, and at most 16,777,216 are taken: "
            "give fewer samples at once, or a larger limit_mb=",
            "",
        ),
    ),
    "an error without words": (
        http({"error": 7}, status="500 x"),
        (
            "{url} answers a request as no brainsmith serve-target does: {what}; see what listens there",
            "no message beside status 500",
        ),
    ),
    "an older protocol": (
        http({"error": "version", "message": "Brainsmith-Protocol must be 0, not '1'"}, status="400 x"),
        (
            "{url} does not speak version 1 of the protocol: install the same version of brainsmith at both ends",
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


LATER = {
    "no outputs": (outputs(), "answers as no served target does: output 'm1' is missing"),
    "another shape": (
        outputs(m1=np.zeros((40, 4), np.float32)),
        "answers as no served target does: output 'm1' has shape (40, 4), and (40, 3) was to come",
    ),
    "fewer samples": (
        outputs(m1=np.zeros((39, 3), np.float32)),
        "answers as no served target does: output 'm1' has shape (39, 3), and (40, 3) was to come",
    ),
    "objects": (
        http(
            b'\x25\0\0\0{"arrays":[["m1","object",[40, 3]]]}  ',
            kind="application/x-brainsmith-frame",
        ),
        f"answers execute as no brainsmith serve-target does: the dtype of array 'm1' must be {', '.join(DTYPES)}, not "
        "'object'; see what listens there",
    ),
    "the end": (
        (b"", b""),  # on the connection that was kept, and on the one that is opened then
        "broke off in execute: Remote end closed connection without response; see there why it ended, and start it "
        "again with brainsmith serve-target",
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


@pytest.mark.parametrize("case", LATER)
def test_a_server_that_answers_wrongly_later(case):
    answer, message = LATER[case]
    prepared = http({"prepared": "p", "signature": SIGNATURE})
    answers = answer if isinstance(answer, tuple) else (answer,)
    with Liar(http(TARGET), prepared, *answers) as liar, connected(liar.url, timeout=0.5) as manager:
        assert manager.active.get_capabilities() == Capabilities(bit_exact=True)
        made = manager.prepare_resource(MODEL)
        with pytest.raises(RemoteError) as error:
            manager.execute(made, X)
        found = str(error.value)
        assert found.startswith(liar.url)
        assert found == f"{liar.url}{'' if message[0] == ':' else ' '}{message}"
        works_on(manager)


@pytest.mark.parametrize(
    "said", [{}, {"prepared": "p", "signature": {"inputs": 1}}, {"prepared": "p", "signature": 5}]
)
def test_a_server_that_prepares_nothing(said):
    with Liar(http(TARGET), http(said)) as liar, connected(liar.url, timeout=5) as manager:
        with pytest.raises(RemoteError) as error:
            manager.prepare_resource(MODEL)
        assert str(error.value).startswith(
            f"{liar.url} answers as no served target does: no prepared resource ("
        )


def test_a_model_that_is_none_and_one_that_does_more(manager):
    with pytest.raises(TargetError) as error:
        manager.prepare_resource(b"no model")
    assert "what was sent is no ONNX model" in str(error.value)
    evil = onnx.ModelProto()
    evil.CopyFrom(MODEL.model)
    evil.graph.node[0].domain = "subprocess"
    with pytest.raises(TargetError) as error:
        manager.prepare_resource(evil)
    assert isinstance(error.value.__cause__, ModelError)
    assert "is of domain 'subprocess', which is not executed for clients" in str(error.value)
    with pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource("nowhere.onnx")
    assert str(error.value) == "target 'remote' cannot execute nowhere.onnx: there is no file nowhere.onnx"
    same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_a_folder_runs_where_the_server_has_it_too(tmp_path):
    class Reads:
        def __call__(self, target, resource, config=None):
            with open(f"{resource}/factor") as file:
                return Prepared(target=target, signature=None, payload=float(file.read()))

    reads = Reads()
    toy(
        "Folder",
        prepare_resource=lambda self, resource, config=None: reads(self, resource),
        execute=lambda self, prepared, inputs: {"y": inputs["x"] * prepared.payload},
    )
    for name, factor in (("theirs", "3"), ("ours", "3"), ("other", "4")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "factor").write_text(factor)
    with served("folder", folders=[str(tmp_path / "theirs")]) as server, connected(server.url) as manager:
        prepared = manager.prepare_resource(tmp_path / "ours")
        assert manager.execute(prepared, {"x": np.ones(2)})["y"].tolist() == [3, 3]
        other = tmp_path / "other"
        with pytest.raises(UnsupportedResourceError) as error:
            manager.prepare_resource(other)
        assert str(error.value) == (
            f"target 'remote' cannot execute {other}: the server does not have the folder {other}, and a folder is never "
            "sent, because it holds programs: start it with --build DIR, where DIR is a copy of it"
        )


def test_auto_asks_before_it_chooses_it_for_a_folder(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    with served(LOCAL) as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", server.url)
        with ResourceManager() as manager, pytest.raises(UnsupportedResourceError) as error:
            manager.prepare_resource(tmp_path / "empty")
    assert "\n  remote: the server does not have the folder " in str(error.value)
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", "http://127.0.0.1:9")
    with ResourceManager() as manager, pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource(tmp_path / "empty")
    assert "\n  remote: nobody serves a target at http://127.0.0.1:9: " in str(error.value)


def test_two_clients_in_many_threads():
    models = [graphs.quant_mlp(seed=seed) for seed in (1, 2)]
    expected = [local(model, X) for model in models]
    with (
        served(LOCAL, requests=3) as server,
        connected(server.url, timeout=20) as one,
        connected(server.url, timeout=21) as two,
        ThreadPoolExecutor(6) as threads,
    ):
        clients = [
            (manager, manager.prepare_resource(model))
            for manager, model in zip((one, two), models, strict=True)
        ]
        assert one.active is not two.active

        def ask(number):
            manager, prepared = clients[number % 2]
            same(manager.execute(prepared, X), expected[number % 2])

        list(threads.map(ask, range(120)))
        assert one.profiles()["remote:0"].executes == 60
        assert len(one.active._client._idle) <= 6


def test_nothing_is_left_open(server):
    with connected(server.url) as manager:
        manager.prepare_resource(MODEL)
        client = manager.active._client
        assert len(client._idle) == 1
    assert client._idle == []


def test_wire_errors_are_of_the_family():
    assert issubclass(WireError, ValueError)
    assert issubclass(RemoteError, TargetError)
