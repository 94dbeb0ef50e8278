"""Print what it costs to run in production: caches that machines share.

python benchmarks/production.py [--only NAME]
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from measure import Figures, compile_package, empty_cache, environment, row, run_once

RUNS = 40
DISCOVER = "from brainsmith.plugin import get_plugin_manager; get_plugin_manager().discover_plugins()"


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


def shared_discovery() -> None:
    """Discovery in a fresh process: from its own disk, and with an empty disk from Redis on this machine."""
    command = [sys.executable, "-c", DISCOVER]
    figures = {name: Figures() for name in ("disk", "shared", "dead")}
    with empty_cache() as home, empty_cache() as project, redis_server() as url:
        disk = environment(home, BRAINSMITH_SHARED_CACHE=url)
        run_once(command, disk, Figures(), project)  # reads everything, and lets others have it
        for _ in range(RUNS):
            run_once(command, disk, figures["disk"], project)
            for name, address in (("shared", url), ("dead", "redis://127.0.0.1:1")):
                with empty_cache() as empty:
                    found = environment(empty, BRAINSMITH_SHARED_CACHE=address)
                    run_once(command, found, figures[name], project)
    own, shared, dead = (figures[name].best_ms for name in ("disk", "shared", "dead"))
    print(f"discovery in a fresh process, the best of {RUNS}")
    row("from its own disk, a shared cache is named", f"{own:.1f} ms", "", reached=True)
    row("its own disk empty, from Redis", f"{shared:.1f} ms", "disk + 5 ms", reached=shared <= own + 5)
    row("its own disk empty, the server dead: everything is read", f"{dead:.1f} ms", "", reached=True)


ROWS = {"shared_discovery": shared_discovery}


def main() -> None:
    """Run all, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=ROWS)
    only = parser.parse_args().only
    compile_package()
    for name, measure in ROWS.items():
        if only in (None, name):
            measure()


if __name__ == "__main__":
    main()
