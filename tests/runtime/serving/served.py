"""Servers for tests, and requests to them as a stranger would make them."""

import http.client
import json
import re
import socket
from contextlib import contextmanager
from pathlib import Path

from brainsmith.runtime.serving.limits import Limits
from brainsmith.runtime.serving.server import TargetServer
from brainsmith.runtime.serving.service import Service

TOKEN = "correct-horse-battery"
CERTIFICATE, KEY = (str(Path(__file__).with_name(name)) for name in ("certificate.pem", "key.pem"))
"""Of localhost and its addresses, until 2126, signed by itself; of no use but for tests."""


@contextmanager
def served(name, *, token="", host="127.0.0.1", port=0, folders=(), certificate=None, key=None, **limits):
    """Serve a target as long as this lasts."""
    service = Service(name, Limits(**{"seconds": 10, **limits}), folders)
    try:
        with TargetServer(service, host, port, token, certificate, key) as server:
            yield server
    finally:
        service.close()


def ask(server, method, path, body=None, **headers):
    """Make one request on a connection of its own; return status, headers and what the body says."""
    connection = http.client.HTTPConnection(*server.address[:2], timeout=10)
    given = {"Brainsmith-Protocol": "2", **{name.replace("_", "-"): text for name, text in headers.items()}}
    given = {name: text for name, text in given.items() if text is not None}
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    try:
        connection.request(method, path, body, given)
        response = connection.getresponse()
        return response.status, response.headers, json.loads(response.read())
    finally:
        connection.close()


def raw(server, data, *, end=False):
    """Send bytes, and perhaps no more; return the answer, or all that comes back if it says not how long it is."""
    with socket.create_connection(server.address[:2], timeout=10) as connection:
        connection.sendall(data)
        if end:
            connection.shutdown(socket.SHUT_WR)
        return answer_on(connection)


def answer_on(connection):
    """Return the next answer on a connection, or what came of it."""
    found, length = b"", None
    while length is None or len(found) < length:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return found
        if not piece:
            return found
        found += piece
        head, _, body = found.partition(b"\r\n\r\n")
        stated = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        if stated and (body or head + b"\r\n\r\n" == found):
            length = len(head) + 4 + int(stated[1])
    return found


def says(answer):
    """Return status and message of what `raw` returned."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["message"]
