"""Servers for tests, and requests to them as a stranger would make them."""

import http.client
import json
import socket
from contextlib import contextmanager

from brainsmith.runtime.serving.limits import Limits
from brainsmith.runtime.serving.server import TargetServer
from brainsmith.runtime.serving.service import Service

TOKEN = "correct-horse-battery"


@contextmanager
def served(name, *, token="", host="127.0.0.1", port=0, folders=(), **limits):
    """Serve a target as long as this lasts."""
    service = Service(name, Limits(**{"seconds": 10, **limits}), folders)
    try:
        with TargetServer(service, host, port, token) as server:
            yield server
    finally:
        service.close()


def ask(server, method, path, body=None, **headers):
    """Make one request on a connection of its own; return status, headers and what the body says."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=10)
    given = {"Brainsmith-Protocol": "1", **{name.replace("_", "-"): text for name, text in headers.items()}}
    given = {name: text for name, text in given.items() if text is not None}
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    try:
        connection.request(method, path, body, given)
        response = connection.getresponse()
        return response.status, response.headers, json.loads(response.read())
    finally:
        connection.close()


def raw(server, data, *, end=True):
    """Send bytes, and return all that comes back."""
    with socket.create_connection(server.server_address[:2], timeout=10) as connection:
        connection.sendall(data)
        if end:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        while True:
            try:
                piece = connection.recv(65536)
            except ConnectionResetError:
                return found
            if not piece:
                return found
            found += piece


def says(answer):
    """Return status and message of what `raw` returned."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["message"]
