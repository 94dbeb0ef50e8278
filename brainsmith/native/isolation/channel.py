"""What host and worker say to each other, over a socket that keeps messages apart; the worker imports this and no more.

The host sends `(command, ...)` in Python's marshal form, with descriptors of the memory that is new to the worker. It
trusts nothing that comes back: an answer is a byte that says of which kind it is, and text.
"""

from __future__ import annotations

import marshal
from _socket import CMSG_SPACE, MSG_DONTWAIT, SCM_RIGHTS, SOL_SOCKET
from struct import calcsize, pack, unpack

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Sequence
    from typing import Any

MAP, FORGET = range(2)
"""Commands: `(MAP, [(number, size, writable)])`, `(FORGET, [number])`, and `(function, operation, signature, places)`:
the function's name, what `FunctionCall` is made of, and `(region, offset)` of each array; those of rules have none."""

DONE, REFUSED, BROKEN, MORE = b"\0", b"\1", b"\2", b"\3"
"""Answers: done, with JSON; a status of the plugin and its message, as JSON; the worker's own trouble, in words; and a
part of an answer that is longer than a message."""

MOST = 1 << 16
"""Bytes of a message."""

MOST_FILES = 64
"""Descriptors of a message."""

_SPACE = CMSG_SPACE(MOST_FILES * calcsize("i"))


def send_command(channel: socket, command: tuple[Any, ...], files: Sequence[int] = ()) -> None:
    """Send a command, with descriptors."""
    data = marshal.dumps(command)
    if files:
        channel.sendmsg([data], [(SOL_SOCKET, SCM_RIGHTS, pack(f"{len(files)}i", *files))])
    else:
        channel.send(data)


def receive_command(channel: socket) -> tuple[tuple[Any, ...] | None, tuple[int, ...]]:
    """Wait for a command; None when the host has closed the channel."""
    data, extra, _, _ = channel.recvmsg(MOST, _SPACE)
    files: tuple[int, ...] = ()
    for _, _, packed in extra:
        files += unpack(f"{len(packed) // calcsize('i')}i", packed)
    return (marshal.loads(data) if data else None), files


def send_answer(channel: socket, kind: bytes, text: str = "") -> None:
    """Answer a command, in parts if need be."""
    data = text.encode()
    most = MOST - 1
    while len(data) > most:
        channel.send(MORE + data[:most])
        data = data[most:]
    channel.send(kind + data)


def receive_part(channel: socket) -> tuple[bytes, bytes]:
    """Return what is there of an answer: its kind, empty if the worker has ended, and its text.

    Raises:
        OSError: Nothing is there, or the channel broke.
    """
    data = channel.recv(MOST, MSG_DONTWAIT)
    return data[:1], data[1:]
