"""The server, asked by strangers: what is refused and how, and that it lives on."""

import http.client
import logging
import re
import socket
import threading
import time

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from brainsmith.errors import DeviceError, TargetError, TargetUnavailableError, UsageError
from brainsmith.runtime.resource_content import content_of
from brainsmith.runtime.serving.limits import Limits
from brainsmith.runtime.serving.protocol import model_content
from brainsmith.runtime.serving.server import TargetServer
from brainsmith.runtime.serving.service import PREPARED, Service
from brainsmith.runtime.serving.wire import decode, encode
from brainsmith.targets import ResourceManager
from tests.build import graphs
from tests.runtime.serving.served import TOKEN, answer_on, ask, raw, says, served
from tests.runtime.toys import toy

MODEL = graphs.quant_mlp().model.SerializeToString()
CONTENT = content_of(MODEL)
PREPARE = {"content": CONTENT, "device_id": 0, "config": {}}
HEAD = {"prepared": "x", "keep": [], "options": {}}


@pytest.fixture(scope="module")
def server():
    with served("numpy", seconds=5, megabytes=1) as made:
        yield made


@pytest.fixture(scope="module")
def guarded():
    with served("reference", token=TOKEN) as made:
        yield made


def well(server, **headers):
    status, _, said = ask(server, "GET", "/target", **headers)
    return status == 200 and said["name"] == server.service.info.name


def test_it_says_what_it_serves(server):
    status, headers, said = ask(server, "GET", "/target")
    assert (status, headers["Brainsmith-Protocol"], headers["Server"]) == (200, "2", "brainsmith")
    assert said == {
        "name": "numpy",
        "framework": "brainsmith",
        "description": "The whole model as array code over many samples at once; exact for whole numbers",
        "brainsmith": "0.1.0",
        "capabilities": {
            "bit_exact": True,
            "cycle_accurate": False,
            "batch": True,
            "streaming": False,
            "intermediates": True,
            "concurrent": True,
        },
        "device_ids": [0],
        "megabytes": 1,
        "seconds": 5,
    }


def test_a_stranger_prepares_and_executes(server):
    assert ask(server, "PUT", f"/models/{CONTENT}", MODEL)[0] == 200
    assert ask(server, "GET", f"/models/{CONTENT}")[2] == {"known": True}
    _, _, said = ask(server, "POST", "/prepare", PREPARE)
    x = graphs.samples(graphs.quant_mlp())
    body = encode({**HEAD, "prepared": said["prepared"]}, {"x": x})
    connection = http.client.HTTPConnection(*server.address[:2], timeout=10)
    connection.request("POST", "/execute", body, {"Brainsmith-Protocol": "2"})
    response = connection.getresponse()
    assert response.headers["Content-Type"] == "application/x-safetensors"
    _, arrays = decode(response.read())
    connection.close()
    assert {name: array.shape for name, array in arrays.items()} == {"m1": (len(x), 3)}


REFUSED = {
    ("GET", "/", None): (404, "there is nothing at '/'"),
    ("GET", "/models/../../etc/passwd", None): (404, "there is nothing at '/models/../../etc/passwd'"),
    ("POST", "/target", b""): (405, "/target does not take POST"),
    ("GET", "/execute", None): (405, "/execute does not take GET"),
    ("GET", "/target", b"x"): (400, "GET takes no body"),
    ("DELETE", "/target", None): (405, "/target does not take DELETE"),
    ("PUT", "/models/abc", b"x"): (
        400,
        "the model that was sent does not have the digest 'abc' that the path states",
    ),
    ("PUT", f"/models/{content_of(b'x')}", b"x"): (422, "the data that was sent is not an ONNX model"),
    ("PUT", "/models/abc", b"x" * 1_000_001): (
        413,
        "a request of 1,000,001 bytes is too large: at most 1,000,000 are accepted; --limit-mb of the server allows more",
    ),
    ("POST", "/prepare", b"[]"): (400, "the body is malformed: it must be a JSON object, not list"),
    ("POST", "/prepare", b"{}"): (400, "content of a request must be a string, not None"),
    ("POST", "/execute", b"no"): (
        400,
        "the body is malformed: it is not a safetensors file: Error while deserializing: header too small",
    ),
}


@pytest.mark.parametrize("request_", REFUSED, ids=lambda request: f"{request[0]} {request[1][:20]}")
def test_what_it_does_not_take_it_refuses(server, request_):
    status, message = REFUSED[request_]
    found, _, said = ask(server, *request_)
    assert (found, said["message"]) == (status, message)
    assert well(server)


PARTITIONS = {
    "qonnx.custom_op.general": (
        "node 'p' (GenericPartition) has attribute model = {path!r}, which names a file or a program of the server"
    ),
    "": "a partition of the model names the model {path!r}, and no file of the server is read for clients",
}


@pytest.mark.parametrize("domain", PARTITIONS)
def test_what_a_model_names_is_not_read_here(server, monkeypatch, tmp_path, domain):
    (tmp_path / "secret").write_text("guessed")
    node = helper.make_node("GenericPartition", ["x"], ["m1"], "p", domain=domain, model=str(tmp_path))
    model = onnx.load_model_from_string(MODEL)
    del model.graph.node[:]
    model.graph.node.append(node)
    data = model.SerializeToString()
    with_what_it_names = content_of(data)
    read = []
    monkeypatch.setattr(
        "brainsmith.runtime.resource_content.facts_of", lambda *given, **words: read.append(given)
    )
    status, _, said = ask(server, "PUT", f"/models/{with_what_it_names}", data)
    assert (status, said["message"]) == (
        400,
        f"the model that was sent does not have the digest {with_what_it_names!r} that the path states",
    )
    status, _, said = ask(server, "PUT", f"/models/{model_content(data)}", data)
    assert (status, said["message"]) == (422, PARTITIONS[domain].format(path=str(tmp_path)))
    assert ask(server, "POST", "/prepare", {**PREPARE, "content": model_content(data)})[0] == 404
    assert read == []


PREPARES = {
    "content": ({"content": 7}, 400, "content of a request must be a string, not 7"),
    "unknown": ({"content": "ff"}, 404, "there is no model with the digest 'ff': send it first"),
    "device": ({"device_id": True}, 400, "device_id of a request must be a whole number, not True"),
    "far device": ({"device_id": 64}, 422, "device_id must be a whole number from 0 to 63, not 64"),
    "no device": ({"device_id": 1}, 422, "target 'numpy' has no device 1; it has 0"),
    "config": ({"config": []}, 400, "config of a request must be a table, not []"),
    "a file": (
        {"config": {"a": [{"b": "/etc/passwd"}]}},
        422,
        "the configuration from a client must not name files of the server: '/etc/passwd'",
    ),
    "a word": (
        {"config": {"fast": True}},
        422,
        "target 'numpy' failed in prepare_resource: numpy takes the settings faithful, not 'fast'",
    ),
}


@pytest.mark.parametrize("case", PREPARES)
def test_what_cannot_be_prepared(server, case):
    change, status, message = PREPARES[case]
    ask(server, "PUT", f"/models/{CONTENT}", MODEL)
    found, _, said = ask(server, "POST", "/prepare", {**PREPARE, **change})
    assert (found, said["message"]) == (status, message)


EXECUTES = {
    "nothing": ({}, 404, "nothing is prepared under 'x': prepare it again"),
    "keep": ({"keep": "all"}, 400, "keep must be a list of names or null, not 'all'"),
    "keep what": ({"keep": [1]}, 400, "keep must be a list of names or null, not [1]"),
    "options": ({"options": None}, 400, "options of a request must be a table, not None"),
    "our words": ({"options": {"inputs": 1}}, 400, "options cannot have 'inputs'"),
    "no word": ({"options": {"a b": 1}}, 400, "options cannot have 'a b'"),
}


@pytest.mark.parametrize("case", EXECUTES)
def test_what_cannot_be_executed(server, case):
    change, status, message = EXECUTES[case]
    found, _, said = ask(server, "POST", "/execute", encode({**HEAD, **change}, {}))
    assert (found, said["message"]) == (status, message)


def test_a_token_is_asked_for_before_anything_else(guarded):
    for text, what in ((None, "is missing"), ("Bearer wrong", "is wrong"), (TOKEN, "is wrong")):
        status, headers, said = ask(guarded, "PUT", "/models/ab", b"x" * 100, Authorization=text)
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        assert said == {"error": "token", "message": f"the token {what}"}
    assert well(guarded, Authorization=f"Bearer {TOKEN}", Host="lab.example.org")


def test_without_a_token_no_page_of_another_name_gets_in(server):
    for host, status in (("evil.example", 403), ("localhost:1", 200), ("[::1]:80", 200), ("", 403)):
        assert ask(server, "GET", "/target", Host=host)[0] == status
    assert ask(server, "GET", "/target", Host="evil.example")[2]["message"] == (
        "without a token only requests to localhost are served"
    )
    status, _, said = ask(server, "GET", "/target", Brainsmith_Protocol="1")
    assert (status, said["message"]) == (400, "Brainsmith-Protocol must be 2, not '1'")
    assert ask(server, "GET", "/target", Brainsmith_Protocol=None)[0] == 400
    assert ask(server, "OPTIONS", "/target")[0] == 405  # so a browser asks in vain


NO_HTTP = {
    "nonsense": b"nonsense\r\n\r\n",
    "another version": b"GET /target HTTP/three\r\nHost: localhost\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n",
    "no host": b"GET /target HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /target HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
}


@pytest.mark.parametrize("case", NO_HTTP)
def test_what_is_no_http(server, case):
    answer = raw(server, NO_HTTP[case])
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert answer.endswith(b"\r\n\r\nInvalid HTTP request received.")
    assert well(server)


@pytest.mark.parametrize("endless", [b"GET /", b"GET /target HTTP/1.1\r\nHost: localhost\r\na:"])
def test_a_head_without_end_is_not_kept(server, endless):
    answer = raw(server, endless + b"a" * 1_000_000)
    assert (
        answer.startswith(b"HTTP/1.1 400 ") or not answer
    )  # of which the rest that is under way takes it along
    assert well(server)


CHUNKED = b"POST /prepare HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    "data",
    [
        CHUNKED + b"\r\nzz\r\n",
        CHUNKED + b"Brainsmith-Protocol: 2\r\n\r\nzz\r\n",
        CHUNKED + b"Expect: 100-continue\r\n\r\nzz\r\n",
        b"GET /target HTTP/1.1\r\nHost: localhost\r\n\r\n\0\0\0\r\n\r\n",
        b"GET /target HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
)
def test_garbage_in_the_midst_of_a_request_makes_no_noise(server, caplog, data):
    raw(server, data)
    assert well(server)
    assert caplog.records == []


def request_of(line, *headers):
    host = "Host: localhost\r\nBrainsmith-Protocol: 2\r\n"
    return (
        f"{line} HTTP/1.1\r\n{host}{''.join(header + chr(13) + chr(10) for header in headers)}\r\n".encode()
    )


def test_the_end_of_a_body_must_be_told(server):
    for headers in ((), ("Transfer-Encoding: chunked",), ("Transfer-Encoding: chunked", "Content-Length: 3")):
        assert says(raw(server, request_of("POST /prepare", *headers) + b"2\r\n{}\r\n0\r\n\r\n")) == (
            411,
            "a request with a body must state its Content-Length",
        )
    for lengths in ("-1", "1, 2", "0x10", "\u00b2", "9" * 30):
        answer = raw(server, request_of("POST /prepare", f"Content-Length: {lengths}"))
        assert answer.startswith(b"HTTP/1.1 400 "), lengths
    two = request_of("POST /prepare", "Content-Length: 2", "Content-Length: 4")
    assert raw(server, two + b"{}{}").startswith(b"HTTP/1.1 400 ")
    assert well(server)


INSIDE = b"GET /target HTTP/1.1\r\nHost: localhost\r\nBrainsmith-Protocol: 2\r\n\r\n"
"""A request that is the body of another one."""

LEFT_UNREAD = {
    "DELETE /target": 405,
    "PATCH /prepare": 405,
    "OPTIONS /nothing": 404,
    "POST /target": 405,
    "PUT /execute": 405,
    "POST /nothing": 404,
    "GET /target": 400,
    "PUT /models/no-content": 404,
}


@pytest.mark.parametrize("line", LEFT_UNREAD)
def test_a_body_that_is_not_taken_is_never_a_request(server, line):
    with socket.create_connection(server.address[:2], timeout=10) as connection:
        connection.sendall(request_of(line, f"Content-Length: {len(INSIDE)}") + INSIDE + INSIDE)
        assert says(answer_on(connection))[0] == LEFT_UNREAD[line]
        assert answer_on(connection) == b""


def test_a_body_that_is_refused_does_not_take_the_answer_with_it(guarded):
    data = request_of("POST /execute", "Content-Length: 30000000")
    with socket.create_connection(guarded.address[:2], timeout=10) as connection:
        connection.sendall(data + bytes(30_000_000))  # more than the system keeps on the way
        assert says(answer_on(connection)) == (401, "the token is missing")


def test_a_client_that_ends_too_early_has_nothing_done(server, monkeypatch):
    asked = []
    monkeypatch.setattr(server.service, "prepare", asked.append)
    assert raw(server, request_of("POST /prepare", "Content-Length: 9") + b"{}", end=True) == b""
    assert well(server)
    assert asked == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["POST /prepare", "POST /execute", "PUT /models/00", "GET /target", "\xff\x00"]),
    st.binary(max_size=80),
    st.booleans(),
)
def test_no_bytes_end_it(server, line, body, honest):
    length = len(body) if honest else len(body) // 2
    answer = raw(server, request_of(line, f"Content-Length: {length}") + body)
    assert re.match(rb"HTTP/1\.1 (200|4\d\d) ", answer), answer
    assert well(server)


@pytest.mark.slow
def test_a_request_that_does_not_come_is_not_waited_for():
    with served("numpy", seconds=0.3, requests=1) as server:
        begin = time.perf_counter()
        late = raw(server, request_of("POST /prepare", "Content-Length: 9") + b"{")
        assert says(late) == (408, "the request did not arrive completely within 0.3 s")
        assert raw(server, b"GET /tar") == b""
        assert raw(server, b"") == b""
        assert time.perf_counter() - begin < 5
        assert well(server)


def test_what_takes_too_long_goes_on_in_its_place_and_others_wait():
    going, release = threading.Event(), threading.Event()

    def execute(self, prepared, inputs, **kwargs):
        going.set()
        release.wait(10)
        return {"y": inputs["x"]}

    toy("Slow", execute=execute)
    with served("slow", seconds=0.4, requests=1) as server:
        name = server.service.prepare({**PREPARE, "content": stored(server)})["prepared"]
        body = encode({**HEAD, "prepared": name}, {"x": np.zeros((1, 2), np.float32)})
        status, _, said = ask(server, "POST", "/execute", body)
        assert (status, said["message"]) == (
            504,
            "the target did not finish within 0.4 s; it goes on, so the same request may succeed later; --timeout of the "
            "server allows more",
        )
        assert going.is_set()
        status, headers, said = ask(server, "POST", "/execute", body)
        assert (status, headers["Retry-After"]) == (503, "1")
        assert re.fullmatch(
            r"the target did not become free for a request within 0\.4 s \(1 in all\): try again later",
            said["message"],
        )
        assert well(server)  # which needs no place
        release.set()
        assert server.close()  # which waits for it


def stored(server):
    content = content_of(MODEL)
    server.service.store(content, MODEL)
    return content


def test_a_target_that_raises_is_told_and_the_server_lives_on(caplog):
    toy("Broken", fails_in=("execute",))
    bare = {"prepare_resource": lambda self, resource, config=None: resource}
    toy("Odd", execute=lambda self, prepared, inputs: {"y": np.array([object()])}, **bare)
    toy("Odder", execute=lambda self, prepared, inputs: {"y": [[1], [1, 2]]}, **bare)
    toy("Wrong", execute=lambda self, prepared, inputs: {"y": [[1], [1, 2]]})
    told = {
        "broken": (422, "target 'broken' failed in execute: RuntimeError: execute broke"),
        "odd": (500, "the outputs cannot be sent: array 'y' must be of bool, int8, int16"),
        "odder": (422, "target 'odder' must return arrays by name to be served, not dict"),
        "wrong": (422, "target 'wrong' must return output 'y' float32 (1, 2), not list"),
    }
    for name, (status, message) in told.items():
        with served(name) as server:
            prepared = server.service.prepare({**PREPARE, "content": stored(server)})["prepared"]
            body = encode({**HEAD, "prepared": prepared}, {"x": np.zeros((1, 2), np.float32)})
            found, _, said = ask(server, "POST", "/execute", body)
            assert (found, said["message"][: len(message)]) == (status, message)
            assert well(server)


def test_a_bug_is_told_and_the_server_lives_on(monkeypatch, caplog):
    with served("numpy") as server:
        monkeypatch.setattr(server.service, "describe", lambda: 1 / 0)
        with caplog.at_level(logging.WARNING, "brainsmith.targets"):
            status, _, said = ask(server, "GET", "/target")
        assert (status, said["message"]) == (500, "it failed: ZeroDivisionError: division by zero")
        monkeypatch.undo()
        assert well(server)


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (OSError("no disk"), "OSError: no disk"),
        (MemoryError("full"), "MemoryError: full"),
    ],
)
def test_whatever_is_raised_is_an_answer(monkeypatch, raised, told):
    def prepare(request):
        raise raised

    with served("numpy") as server:
        monkeypatch.setattr(server.service, "prepare", prepare)
        status, _, said = ask(server, "POST", "/prepare", PREPARE)
        assert (status, said) == (500, {"error": "TargetError", "message": f"it failed: {told}"})
        assert well(server)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
@pytest.mark.slow
def test_it_listens_at_ipv6_too():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        pytest.skip("needs a loopback interface with IPv6")
    with served("numpy", host="::1") as server:
        assert re.fullmatch(r"http://\[::1\]:\d+", server.url)
        assert well(server)
        with ResourceManager({"device": "remote", "targets": {"remote": {"url": server.url}}}) as manager:
            assert manager.prepare_resource(MODEL).signature.inputs[0].name == "x"


def test_clients_beyond_the_limit_are_sent_away():
    with served("numpy", connections=1) as server:
        with socket.create_connection(server.address[:2]) as first:
            first.sendall(request_of("GET /target"))
            assert first.recv(10)
            assert says(raw(server, b"")) == (
                503,
                "too many clients are connected: try again later",
            )
        for _ in range(100):
            if not server._state.connections:
                break
            time.sleep(0.02)
        assert well(server)


@pytest.mark.slow
def test_what_was_used_last_is_kept():
    with served("numpy") as server:
        content = stored(server)
        names = [
            server.service.prepare({**PREPARE, "content": content, "config": {"faithful": flag}})["prepared"]
            for flag in (True, False, True)
        ]
        assert names[0] == names[2] != names[1]
        assert list(server.service._prepared._values) == [names[1], names[0]]
        assert PREPARED == 32


def test_a_port_that_is_taken_and_a_host_that_is_not_ours():
    with served("numpy") as server:
        port = server.address[1]
        with pytest.raises(TargetError) as error:
            TargetServer(server.service, port=port)
        assert str(error.value) == (
            f"no target can be served at 127.0.0.1:{port}: Address already in use; choose another --port, or 0 "
            "for any that is free"
        )
        with pytest.raises(UsageError) as error:
            TargetServer(server.service, "192.0.2.1", 0, TOKEN)  # which is nobody's (RFC 5737)
        assert str(error.value) == (
            "--host must be an address of this machine, not '192.0.2.1': Cannot assign requested address"
        )
        with pytest.raises(UsageError) as error:
            TargetServer(server.service, "no such host", 0)
        assert str(error.value).startswith("--host must be an address of this machine, not 'no such host': ")
        with pytest.raises(UsageError) as error:
            TargetServer(server.service, "0.0.0.0", 0)
        assert str(error.value) == (
            "0.0.0.0 can be reached from other machines, so a token is needed: --token-file FILE, or "
            "BRAINSMITH_REMOTE_TOKEN"
        )
        assert not server.is_everywhere


@pytest.mark.slow
def test_at_every_address_it_is_found_at_that_of_this_machine():
    with served("numpy", host="0.0.0.0", token=TOKEN) as server:
        assert server.is_everywhere
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.url)
        remote = {"url": server.url, "token": TOKEN}
        with ResourceManager({"device": "remote", "targets": {"remote": remote}}) as manager:
            assert manager.prepare_resource(MODEL).signature.inputs[0].name == "x"


def test_what_cannot_be_served():
    toy("Away", available=False)
    for name, kind, message in (
        (
            "remote",
            UsageError,
            "the target remote cannot be served: serve the target that it stands for, on its machine",
        ),
        (
            "away",
            TargetUnavailableError,
            "target 'away' cannot be used here: its cable is not plugged in: plug it in",
        ),
        ("nmpy", DeviceError, "there is no device 'nmpy'. Did you mean 'numpy'?"),
        ("nmpy:1", DeviceError, "there is no device 'nmpy:1'. Did you mean 'numpy'?"),
    ):
        with pytest.raises(kind) as error:
            Service(name)
        assert str(error.value).partition("\n")[0] == message


@pytest.mark.parametrize("name", ["megabytes", "seconds", "requests", "connections"])
def test_limits_are_above_nought(name):
    with pytest.raises(UsageError) as error:
        Limits(**{name: 0})
    assert str(error.value) == f"the limit of {name} must be a number above 0, not 0"


def test_closing_waits_for_what_is_being_worked_on_and_not_for_ever():
    with served("numpy") as server, socket.create_connection(server.address[:2]) as idle:
        idle.sendall(request_of("GET /target"))
        assert b'"name":"numpy"' in answer_on(idle)
        assert server.close()
        idle.settimeout(5)
        assert idle.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(server.address[:2], timeout=5)
