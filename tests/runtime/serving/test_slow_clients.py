"""Clients that send slowly: they hold neither places nor more memory than there is for bodies, and not for ever."""

import select
import socket
import time
from contextlib import ExitStack

import pytest

from brainsmith.runtime.serving.limits import Limits
from tests.runtime.serving.served import answer_on, ask, raw, says, served

HEAD = b"POST /prepare HTTP/1.1\r\nHost: localhost\r\nBrainsmith-Protocol: 2\r\nContent-Length: %d\r\n\r\n"


@pytest.fixture
def stalls(monkeypatch):
    monkeypatch.setattr("brainsmith.runtime.serving.application.STALL_SECONDS", 0.3)


def beginning(server, length):
    """Return a connection on which three bytes of a body came."""
    connection = socket.create_connection(server.address[:2], timeout=10)
    connection.sendall(HEAD % length + b"abc")
    return connection


def until_room_is(server, left):
    for _ in range(500):
        if server.application.room.left == left:
            return
        time.sleep(0.01)
    raise AssertionError(f"{server.application.room.left} of {server.application.room.count} bytes are left")


def test_they_take_no_place_from_others():
    with served("numpy", requests=1) as server, ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(beginning(server, 1_000_000))
        until_room_is(server, 64_000_000 - 8_000_000)
        begin = time.perf_counter()
        status, _, said = ask(server, "POST", "/prepare", {"content": "ff", "device_id": 0, "config": {}})
        assert (status, said["message"]) == (404, "there is no model with the digest 'ff': send it first")
        assert time.perf_counter() - begin < 5
        stack.close()
        until_room_is(server, 64_000_000)


def test_one_that_stops_is_told(stalls):
    with served("numpy") as server:
        begin = time.perf_counter()
        assert says(raw(server, HEAD % 9 + b"abc")) == (
            408,
            "no data of the request arrived for 0.3 s",
        )
        assert time.perf_counter() - begin < 5
        until_room_is(server, server.application.room.count)


def test_one_that_sends_a_byte_now_and_then_has_the_time_of_a_request(stalls):
    with served("numpy", seconds=0.5) as server, beginning(server, 1000) as connection:
        begin = time.perf_counter()
        while not select.select([connection], [], [], 0.1)[0]:
            connection.sendall(b"x")
        assert time.perf_counter() - begin < 5
        assert says(answer_on(connection)) == (408, "the request did not arrive completely within 0.5 s")


@pytest.mark.slow
def test_what_has_no_room_waits_for_it(stalls):
    with served("numpy", requests=1, megabytes=0.001) as server, beginning(server, 900):
        until_room_is(server, 100)
        status, message = says(raw(server, HEAD % 200 + b" " * 198 + b"{}"))  # after the other was sent away
        assert (status, message) == (400, "content of a request must be a string, not None")


def test_what_gets_no_room_is_told():
    with served("numpy", seconds=0.4, requests=1, megabytes=0.001) as server:
        server.application.room.left -= 900
        assert says(raw(server, HEAD % 200)) == (
            503,
            "no memory for a request of 200 bytes became free within 0.4 s, because others are being read: try again later",
        )
        assert ask(server, "POST", "/prepare", b"{}")[0] == 400
        server.application.room.left += 900
        assert ask(server, "POST", "/prepare", b"{}" + b" " * 200)[0] == 400


@pytest.mark.slow
def test_room_is_given_back_whatever_happens(stalls):
    with served("numpy", requests=2, megabytes=0.001) as server:
        room = server.application.room
        assert room.left == room.count == Limits(megabytes=0.001, requests=2).read_bytes == 2000
        assert ask(server, "POST", "/prepare", b"no" * 400)[0] == 400
        assert says(raw(server, HEAD % 900 + b"abc"))[0] == 408
        with beginning(server, 1000), beginning(server, 1000):
            until_room_is(server, 0)
        until_room_is(server, 2000)


@pytest.mark.slow
def test_one_that_does_not_take_its_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("brainsmith.runtime.serving.server.IDLE_SECONDS", 0.3)
    monkeypatch.setattr("brainsmith.runtime.serving.server.DRAIN_SECONDS", 0)
    with served("numpy", seconds=0.3) as server:
        monkeypatch.setattr(server.service, "describe", lambda: {"much": "x" * 30_000_000})
        with socket.create_connection(server.address[:2], timeout=10) as connection:
            connection.sendall(b"GET /target HTTP/1.1\r\nHost: localhost\r\nBrainsmith-Protocol: 2\r\n\r\n")
            assert connection.recv(10)
            until_nobody_is_connected(server)


def until_nobody_is_connected(server):
    for _ in range(500):
        if not server._state.connections:
            return
        time.sleep(0.01)
    raise AssertionError(f"{len(server._state.connections)} are connected")
