"""A real Redis server: started here, killed in the midst, filled with garbage, and used by eight processes."""

import subprocess
import sys

import pytest

from brainsmith.errors import SharedCacheError
from brainsmith.store.shared.deadline import Deadline
from brainsmith.store.shared.redis_server import RedisServer
from brainsmith.store.shared.shared_cache import FORM, SharedCache, place_of
from tests.store.shared.redis_servers import free_port, needs_redis, redis_server


@pytest.fixture
def server():
    with redis_server() as running:
        yield running


def patient(url):
    return SharedCache(url, limit=10)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis://", "it names no host"),
        ("redis://:6379", "it names no host"),
        ("redis://h:x", "'x' is not a port"),
        ("redis://h:0", "'0' is not a port"),
        ("redis://h:65536", "'65536' is not a port"),
        ("redis://h/x", "'x' is not the number of a database"),
        ("redis://[::1]:x", "'x' is not a port"),
    ],
)
def test_an_address_that_cannot_be_one_says_why(url, said):
    with pytest.raises(ValueError) as caught:
        RedisServer(url)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("redis://h", ("h", 6379, "", [])),
        ("redis://h:1/2", ("h", 1, "2", [])),
        ("redis://:pa%40ss@h", ("h", 6379, "", ["", "pa@ss"])),
        ("redis://me:it@[::1]:5", ("::1", 5, "", ["me", "it"])),
    ],
)
def test_an_address_is_taken_apart(url, parts):
    found = RedisServer(url)
    assert (found._host, found._port, found._database, found._account) == parts


@needs_redis
@pytest.mark.slow
def test_what_is_put_is_there_for_all_and_for_a_limited_time(server):
    one, other = patient(server.url), patient(server.url)
    assert one.get("builds", "ab") is None
    large = bytes(range(256)) * 20_000
    assert one.put("builds", "ab", large)
    assert one.put("builds", "cd", b"")
    assert (other.get("builds", "ab"), other.get("builds", "cd")) == (large, b"")
    assert sorted(other.keys("builds")) == ["ab", "cd"]
    asked = RedisServer(server.url)._ask(Deadline(10), b"TTL", place_of("builds", "ab").encode())
    assert 0 < asked <= 30 * 86400


@needs_redis
@pytest.mark.slow
def test_all_keys_are_listed_however_many_answers_it_takes(server):
    found = RedisServer(server.url)
    for number in range(3000):
        found.put(f"{FORM}/builds/{number}", b"x", Deadline(10))
    found.put("of somebody else", b"x", Deadline(10))
    assert sorted(patient(server.url).keys("builds")) == sorted(map(str, range(3000)))


@needs_redis
@pytest.mark.slow
def test_a_server_that_is_killed_in_the_midst_costs_a_miss_and_is_used_again_when_it_is_back(caplog):
    port = free_port()
    with redis_server(port=port) as first:
        cache = patient(first.url)
        assert cache.put("builds", "ab", b"content")
        first.kill()
        assert cache.get("builds", "ab") is None
        assert not cache.put("builds", "ab", b"content")
        assert cache.failures == 1
        assert [record.getMessage() for record in caplog.records] == [
            f"the shared cache {first.url} cannot be used: it cannot be reached: Connection refused; "
            "this run goes on without it"
        ]
    with redis_server(port=port):
        cache._rests_until = 0.0
        assert cache.put("builds", "ab", b"content")
        assert cache.get("builds", "ab") == b"content"


@needs_redis
@pytest.mark.slow
def test_a_server_that_was_started_again_meanwhile_is_no_failure():
    port = free_port()
    with redis_server(port=port) as first:
        cache = patient(first.url)
        assert cache.put("builds", "ab", b"content")
    with redis_server(port=port):
        assert cache.get("builds", "ab") is None
        assert (cache.failures, cache.misses) == (0, 1)


@needs_redis
@pytest.mark.slow
def test_garbage_and_values_of_other_kinds_are_misses(server):
    cache, raw = patient(server.url), RedisServer(server.url)
    raw.put(place_of("builds", "ab"), b"\x80\x04\x95garbage", Deadline(10))
    assert (cache.get("builds", "ab"), cache.refused) == (None, 1)
    raw._ask(Deadline(10), b"RPUSH", place_of("builds", "cd").encode(), b"x")
    assert cache.get("builds", "cd") is None
    assert str(cache.failure).endswith(
        "it answers 'WRONGTYPE Operation against a key holding the wrong kind of value'"
    )


@needs_redis
@pytest.mark.slow
def test_a_password_and_a_database_are_given():
    with redis_server("--requirepass", "se cret") as server:
        address = server.url.removeprefix("redis://")
        cache = patient(f"redis://:se%20cret@{address}/3")
        assert cache.put("builds", "ab", b"content")
        assert patient(f"redis://:se%20cret@{address}/2").get("builds", "ab") is None
        with pytest.raises(SharedCacheError, match="NOAUTH Authentication required"):
            patient(server.url).keys("builds")
        with pytest.raises(SharedCacheError, match="WRONGPASS"):
            patient(f"redis://:other@{address}").keys("builds")


WORKER = """
import sys
from brainsmith.store.shared.shared_cache import SharedCache
cache = SharedCache(sys.argv[1], limit=20)
me = int(sys.argv[2])
for number in range(100):
    content = bytes([number]) * 2000
    assert cache.put("builds", f"all{number}", content)
    assert cache.put("builds", f"{me}-{number}", content)
    assert cache.get("builds", f"all{number}") == content
print(cache.failures, cache.refused)
"""


@needs_redis
@pytest.mark.slow
def test_eight_processes_write_and_read_at_once(server):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, server.url, str(me)], stdout=subprocess.PIPE, text=True
        )
        for me in range(8)
    ]
    assert [process.communicate(timeout=120)[0] for process in processes] == ["0 0\n"] * 8
    assert len(patient(server.url).keys("builds")) == 900
