"""The server of the dashboard: uvicorn at the loopback address, in a thread of its own."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from pathlib import Path
from typing import Self

from uvicorn import Config, Server

from brainsmith.dashboard.build_tree import BuildTree
from brainsmith.dashboard.dashboard_application import dashboard_application
from brainsmith.errors import DashboardError

HOST = "127.0.0.1"
PORT = 8764


class DashboardServer:
    """Serves a folder's builds until it is closed; a context manager.

    Args:
        root: The folder.
        port: At which it listens; 0 for any that is free.

    Raises:
        DashboardError: There is no such folder, or the port is taken.
    """

    def __init__(self, root: Path, port: int = PORT) -> None:
        if not root.is_dir():
            raise DashboardError(f"{root} is not a folder: name one with builds in it or below it")
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        hosts = frozenset(f"{name}:{self.port}" for name in (HOST, "localhost"))
        application = dashboard_application(BuildTree(root), self.token, hosts)
        config = Config(
            application, log_config=None, lifespan="off", access_log=False, server_header=False, http="h11"
        )
        self._server = Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="brainsmith-dashboard", daemon=True
        )

    @property
    def url(self) -> str:
        """The address to open: it has the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(5)
        self._socket.close()


def _listening(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen(64)
    except OSError as error:
        found.close()
        raise DashboardError(
            f"the dashboard cannot listen at {HOST}:{port}: {error.strerror}\n"
            "  name another port with --port, or 0 for a free one"
        ) from error
    return found
