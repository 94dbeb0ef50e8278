"""A shared cache as its users see it: what it has, and never an error."""

import os
import socket
import threading

import pytest

from brainsmith.errors import SettingsError, SharedCacheError
from brainsmith.settings import load_settings
from brainsmith.store.shared import shared_cache as module
from brainsmith.store.shared.shared_cache import (
    SharedCache,
    patient_cache,
    place_of,
    shared_cache,
    shown_address,
)
from tests.store.shared.redis_servers import free_port


@pytest.fixture
def url(tmp_path):
    return f"file://{tmp_path}/cache"


def patient(url, **more):
    return SharedCache(url, limit=10, **more)


def warnings_of(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "brainsmith.store"]


def test_one_finds_what_another_has_put(url):
    one, other = patient(url), patient(url)
    assert one.get("builds", "ab") is None
    assert one.put("builds", "ab", b"content")
    assert other.get("builds", "ab") == b"content"
    assert other.keys("builds") == ["ab"]
    assert other.keys("discovery") == []
    assert (one.hits, one.misses, one.written, other.hits) == (0, 1, 1, 1)


def test_one_that_is_only_read_is_not_written(url):
    assert not patient(url, read_only=True).put("builds", "ab", b"content")
    assert patient(url).keys("builds") == []


def test_what_is_too_large_is_not_written(url, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 3)
    assert not patient(url).put("builds", "ab", b"four")


def test_a_damaged_entry_is_a_miss_and_one_warning(url, tmp_path, caplog):
    cache = patient(url)
    for name in ("ab", "cd"):
        cache.put("builds", name, b"content")
        (tmp_path / "cache" / place_of("builds", name)).write_bytes(b"garbage")
    assert (cache.get("builds", "ab"), cache.get("builds", "cd"), cache.refused) == (None, None, 2)
    assert not cache.is_resting
    assert warnings_of(caplog) == [f"{url}: the entry builds/ab is not used: it is not an entry of this key"]


def test_a_copy_of_another_entry_is_not_believed(url, tmp_path):
    cache = patient(url)
    cache.put("builds", "ab", b"content")
    folder = tmp_path / "cache" / place_of("builds", "")
    (folder / "cd").write_bytes((folder / "ab").read_bytes())
    assert cache.get("builds", "cd") is None


def test_a_server_that_is_not_there_costs_one_warning_and_is_not_asked_again(caplog):
    port = free_port()
    cache = SharedCache(f"redis://:secret@127.0.0.1:{port}")
    assert cache.get("builds", "ab") is None
    assert cache.is_resting
    assert cache.get("builds", "ab") is None
    assert not cache.put("builds", "ab", b"content")
    assert cache.failures == 1
    assert warnings_of(caplog) == [
        f"the shared cache redis://127.0.0.1:{port} cannot be used: it cannot be reached: Connection refused; "
        "this run goes on without it"
    ]


def test_after_its_rest_it_is_asked_again(url, monkeypatch):
    cache = patient(url)
    cache._fail(SharedCacheError("it is tired"))
    assert not cache.put("builds", "ab", b"content")
    now = module.time.monotonic()
    monkeypatch.setattr(module.time, "monotonic", lambda: now + module.REST + 1)
    assert cache.put("builds", "ab", b"content")


class Answering:
    """A server that says one thing to whoever connects, and then waits."""

    def __init__(self, answer):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.answer = answer
        self.held = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.held.append(connection)
            connection.sendall(self.answer)


@pytest.fixture
def answering():
    made = []

    def make(answer):
        made.append(Answering(answer))
        return f"redis://127.0.0.1:{made[-1].port}"

    yield make
    for server in made:
        server.socket.close()
        for connection in server.held:
            connection.close()


NO_REDIS = "it does not answer as Redis does"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "it did not answer within 40 ms"),
        (b"$1000000\r\nabc", "it did not answer within 40 ms"),
        (b"$99999999999\r\nabc", NO_REDIS),
        (b"$-7\r\n", NO_REDIS),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", NO_REDIS),
        (b"x" * 70_000, NO_REDIS),
        (b"*1\r\n" * 50, NO_REDIS),
        (b"*999999999\r\n", NO_REDIS),
        (b":5\r\n", NO_REDIS),
        (b"-NOAUTH Authentication required.\r\n", "it answers 'NOAUTH Authentication required.'"),
    ],
)
def test_whatever_a_server_answers_is_a_miss_and_a_warning(answering, answer, said, caplog):
    url = answering(answer)
    cache = SharedCache(url)
    assert cache.get("builds", "ab") is None
    assert warnings_of(caplog) == [
        f"the shared cache {url} cannot be used: {said}; this run goes on without it"
    ]


def test_a_name_that_nothing_has_is_a_miss(caplog):
    cache = SharedCache("redis://no-such-host.invalid", limit=5)
    assert cache.get("builds", "ab") is None
    (said,) = warnings_of(caplog)
    assert said.startswith("the shared cache redis://no-such-host.invalid cannot be used: ")


def test_who_waits_for_it_gets_the_error():
    with pytest.raises(
        SharedCacheError, match=r"^the shared cache redis://127.0.0.1:1 cannot be used: it cannot be"
    ):
        SharedCache("redis://127.0.0.1:1").keys("builds")


def test_a_process_has_one_for_each_setting(monkeypatch, url):
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", url)
    settings = load_settings()
    assert shared_cache(settings) is shared_cache(load_settings())
    assert (shared_cache(settings).read_only, shared_cache(settings).limit) == (False, 0.04)
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE_MODE", "read-only")
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE_TIMEOUT", "0.2")
    found = shared_cache(load_settings())
    assert (found.read_only, found.limit) == (True, 0.2)
    assert patient_cache(load_settings()).limit == module.PATIENCE


def test_without_the_setting_it_says_what_to_set():
    with pytest.raises(SettingsError) as caught:
        shared_cache(load_settings())
    assert str(caught.value) == (
        "no shared cache is named\n  set shared_cache in .brainsmith/config.yaml, or BRAINSMITH_SHARED_CACHE, to an "
        "address such as redis://HOST:PORT or file:///FOLDER"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("redis://h:1", "redis://h:1"),
        ("redis://u:p@ss@h:1/2", "redis://h:1/2"),
        ("s3://bucket/folder", "s3://bucket/folder"),
    ],
)
def test_an_address_is_shown_without_name_and_password(value, shown):
    assert shown_address(value) == shown


def test_a_forked_child_has_a_connection_of_its_own(url):
    cache = patient(url)
    cache.put("builds", "ab", b"content")
    child = os.fork()
    if not child:
        os._exit(0 if cache.get("builds", "ab") == b"content" else 1)
    assert os.waitpid(child, 0)[1] == 0
