"""Redis servers for tests: real ones, on a free port of this machine, with an empty folder."""

import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager

import pytest

PROGRAM = shutil.which("redis-server")

needs_redis = pytest.mark.skipif(PROGRAM is None, reason="needs redis-server: apt-get install redis-server")


def free_port():
    """Return a port that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class RedisProcess:
    """A server that runs; `kill` ends it as a crash does."""

    def __init__(self, port, folder, *arguments):
        self.port = port
        self.url = f"redis://127.0.0.1:{port}"
        words = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, *arguments)
        self.process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise AssertionError("redis-server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextmanager
def redis_server(*arguments, port=None):
    """Run a server."""
    with tempfile.TemporaryDirectory() as folder:
        server = RedisProcess(port or free_port(), folder, *arguments)
        try:
            yield server
        finally:
            server.kill()
