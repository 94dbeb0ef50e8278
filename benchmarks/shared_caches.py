"""What a cache costs that machines share: rows of `production.py`."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import compile_package, empty_cache, environment, row

RUNS = 40
DISCOVER = """
from brainsmith.plugin import get_plugin_manager
manager = get_plugin_manager()
manager.discover_plugins()
found = manager.get_performance_stats()
print(found["discovery_source"], found["discovery_time_ms"])
"""


@contextmanager
def redis_server() -> Iterator[str]:
    """Run a Redis server on a free port of this machine; give its address."""
    program = shutil.which("redis-server")
    if program is None:
        sys.exit("redis-server is missing: apt-get install redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        server = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield f"redis://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    sys.exit("redis-server does not start")


@contextmanager
def silent_server() -> Iterator[str]:
    """Run a server that takes connections and never answers; give its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}"


def _discover(home: Path, project: Path, address: str) -> tuple[str, float, float]:
    """Discover in a fresh process; return where it was found, what it took, and what the whole process took, in ms."""
    variables = environment(home, BRAINSMITH_SHARED_CACHE=address)
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", DISCOVER],
        env=variables,
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = (time.perf_counter() - begin) * 1e3
    source, milliseconds = done.stdout.split()
    return source, float(milliseconds), whole


def shared_discovery() -> None:
    """Discovery in a fresh process: from its own disk, with an empty disk from Redis here, and where that is of no use."""
    compile_package()
    best: dict[str, tuple[float, float]] = {}
    others = 0
    with empty_cache() as home, empty_cache() as project, redis_server() as url, silent_server() as silent:
        _discover(home, project, url)  # reads everything, and lets others have it
        push = [sys.executable, "-m", "brainsmith", "cache", "push", "discovery"]
        subprocess.run(push, env=environment(home, BRAINSMITH_SHARED_CACHE=url), cwd=project, check=True)
        addresses = {
            "disk": url,
            "shared": url,
            "nothing": "",
            "dead": "redis://127.0.0.1:1",
            "silent": silent,
        }
        for _ in range(RUNS):
            for name, address in addresses.items():
                with empty_cache() as empty:
                    source, took, whole = _discover(home if name == "disk" else empty, project, address)
                if source != (name if name in ("disk", "shared") else "scan"):
                    others += 1  # a busy machine misses the time limit, too
                    continue
                before = best.get(name, (took, whole))
                best[name] = min(before[0], took), min(before[1], whole)
    print(f"discovery in a fresh process, the best of {RUNS}; in parentheses the whole process")
    if others:
        print(f"  {others} runs missed the time limit and do not count")
    for name, what, most in (
        ("disk", "from its own disk, where a shared cache is named", None),
        ("shared", "its own disk empty, from Redis on this machine", best["disk"][0] + 5),
        ("nothing", "its own disk empty, no shared cache: all is read", None),
        ("dead", "its own disk empty, nothing listens there: all is read", best["nothing"][0] + 50),
        ("silent", "its own disk empty, the server never answers: all is read", best["nothing"][0] + 50),
    ):
        took, whole = best[name]
        goal = "" if most is None else f"{most:.1f} ms"
        row(what, f"{took:.1f} ms ({whole:.1f})", goal, reached=most is None or took <= most)
