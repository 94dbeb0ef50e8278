"""What runs in the process of an isolated library: it loads the library and calls its functions on shared memory.

It imports ctypes and what the interpreter has built in, so that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import _thread
import ctypes
import json
import mmap
import os
import select
import signal
import time
from _socket import socket

from brainsmith import TYPE_CHECKING
from brainsmith.autodiff.bounded_cache import BoundedCache
from brainsmith.native import abi
from brainsmith.native.dynamic_loading import load
from brainsmith.native.function_call import RULES, FunctionCall, StatusError
from brainsmith.native.isolation import channel as ch
from brainsmith.native.plugin_table import create, describe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

GRACE = 0.5
"""Seconds that an operation has to end after its host ended."""

_KEPT = 256
"""How many kinds of calls are kept."""


def main(descriptor: int, path: str, beside: tuple[str, ...], host_version: str) -> None:
    """Load a library and answer until the host closes the channel."""
    channel = socket(fileno=descriptor)
    _thread.start_new_thread(_watch, (descriptor,))
    try:
        address, message = create(load(path, beside), host_version)
    except (OSError, AttributeError) as error:
        ch.send_answer(channel, ch.BROKEN, str(error))
        return
    if not address:
        ch.send_answer(channel, ch.BROKEN, message or "create_plugin returned NULL")
        return
    table = describe(address)
    ch.send_answer(channel, ch.DONE, json.dumps(table))
    _serve(channel, table)
    if table.get("destroy"):
        abi.DESTROY_FUNCTION(table["destroy"])(address)


def _watch(descriptor: int) -> None:
    """End this process soon after its host, whatever the library is doing."""
    poll = select.poll()
    poll.register(descriptor, 0)  # that the other end is closed is reported in any case
    poll.poll()
    time.sleep(GRACE)
    os.kill(0, signal.SIGKILL)  # and all processes that the library started


def _serve(channel: socket, table: dict[str, Any]) -> None:
    memory = MappedRegions()
    calls: Calls | None = None
    while True:
        command, files = ch.receive_command(channel)
        if command is None:
            return
        if command[0] == ch.MAP:
            memory.map(command[1], files)
            continue
        if command[0] == ch.FORGET:
            memory.forget(command[1])
            continue
        if calls is None:  # the host has judged the table before it asks for the first call
            calls = Calls(table, memory)
        try:
            ch.send_answer(channel, *calls.run(*command))
        except (KeyError, OSError) as error:
            ch.send_answer(channel, ch.BROKEN, f"{type(error).__name__}: {error}")


class MappedRegions:
    """The regions of the host that this process maps: what the library must not change is mapped for reading alone."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._mmap, self._munmap = libc.mmap, libc.munmap
        self._mmap.restype = ctypes.c_void_p
        self._mmap.argtypes = (abi.pointer, ctypes.c_size_t, abi.i32, abi.i32, abi.i32, ctypes.c_long)
        self._munmap.argtypes = (abi.pointer, ctypes.c_size_t)
        self._sizes: dict[int, int] = {}
        self.addresses: dict[int, int] = {}
        """Where each region begins here, by its number."""

    def map(self, regions: Sequence[tuple[int, int, bool]], files: Sequence[int]) -> None:
        """Map regions, `(number, size, writable)` each; one that cannot be mapped is missing when it is used."""
        for (number, size, writable), file in zip(regions, files, strict=True):
            rights = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
            address = self._mmap(None, size, rights, mmap.MAP_SHARED, file, 0)
            os.close(file)
            if address not in (None, ctypes.c_void_p(-1).value):
                self.addresses[number], self._sizes[number] = address, size

    def forget(self, numbers: Sequence[int]) -> None:
        """Unmap regions that the host has released."""
        for number in numbers:
            if number in self.addresses:
                self._munmap(self.addresses.pop(number), self._sizes.pop(number))


class Calls:
    """The functions of a table, called with structures that are kept for the next call of the same shapes."""

    def __init__(self, table: dict[str, Any], memory: MappedRegions) -> None:
        self._ops: list[dict[str, Any]] = table["ops"]
        self._memory = memory
        self._kept: dict[Any, FunctionCall] = BoundedCache(_KEPT)

    def run(
        self, function: str, op: int, signature: tuple[Any, ...], places: tuple[tuple[int, int], ...]
    ) -> tuple[bytes, str]:
        """Do what a command says, and return the answer."""
        key = (function, op, signature)
        call = self._kept.get(key)
        if call is None:
            call = self._kept[key] = FunctionCall(self._ops[op], function, signature)
        addresses = self._memory.addresses
        for tensor, (region, offset) in zip(call.tensors, places, strict=False):
            tensor.data = addresses[region] + offset if region else None
        try:
            if function in RULES:
                return ch.DONE, json.dumps(call.answers())
            call.run()
        except StatusError as error:
            return ch.REFUSED, json.dumps(error.args)
        return ch.DONE, ""
