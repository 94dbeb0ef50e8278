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

from brainsmith.native import abi
from brainsmith.native.isolation import channel as ch
from brainsmith.native.loading import load
from brainsmith.native.table import ERROR_BYTES, create, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

GRACE = 0.5
"""Seconds that an operation has to end after its host has gone."""

FUNCTIONS = {ch.VALIDATE: "validate", ch.FORWARD: "forward", ch.BACKWARD: "backward"}
RULES = {ch.SHAPES: "output_shape", ch.DTYPES: "output_dtype", ch.DEVICES: "output_device"}
"""The functions of an operation, by the command that calls them."""

_PREPARED = 256
"""How many kinds of calls are kept prepared."""


def main(descriptor: int, path: str, beside: tuple[str, ...], host_version: str) -> None:
    """Load a library and answer until the host closes the channel."""
    channel = socket(fileno=descriptor)
    _thread.start_new_thread(_watch, (descriptor,))
    try:
        library = load(path, beside)
        function = ctypes.cast(library.create_plugin, ctypes.c_void_p).value or 0
    except (OSError, AttributeError) as error:
        ch.send_answer(channel, ch.BROKEN, str(error))
        return
    address, message = create(function, host_version)
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
    memory = Memory()
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


class Memory:
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
        """Unmap regions that are gone."""
        for number in numbers:
            if number in self.addresses:
                self._munmap(self.addresses.pop(number), self._sizes.pop(number))


class Calls:
    """The functions of a table, called with structures that are kept for the next call of the same shapes."""

    def __init__(self, table: dict[str, Any], memory: Memory) -> None:
        self._ops: list[dict[str, Any]] = table["ops"]
        self._memory = memory
        self._prepared: dict[Any, Prepared] = {}

    def run(
        self, command: int, op: int, signature: tuple[Any, ...], places: tuple[tuple[int, int], ...]
    ) -> tuple[bytes, str]:
        """Do what a command says, and return the answer."""
        key = (command, op, signature)
        prepared = self._prepared.get(key)
        if prepared is None:
            if len(self._prepared) >= _PREPARED:
                self._prepared.clear()
            prepared = self._prepared[key] = Prepared(self._ops[op], command, signature)
        addresses = self._memory.addresses
        for tensor, (region, offset) in zip(prepared.tensors, places, strict=False):
            tensor.data = addresses[region] + offset if region else None
        if command in RULES:
            return prepared.rules(RULES[command])
        return prepared.run()


class Prepared:
    """A call of one function of one operation, on arrays of certain shapes and dtypes.

    Attributes:
        tensors: The descriptors of all arrays, in the order of the structure's fields.
    """

    def __init__(self, op: dict[str, Any], command: int, signature: Sequence[tuple[Any, Any]]) -> None:
        self._op = op
        count, results = op["num_inputs"], op["num_outputs"]
        tensors = (abi.Tensor * max(len(signature), 1))()
        self.tensors = list(tensors)
        self._kept = [_fill(tensor, *one) for tensor, one in zip(self.tensors, signature, strict=False)]
        self._error = ctypes.create_string_buffer(ERROR_BYTES)
        begin, size, known = ctypes.addressof(tensors), ctypes.sizeof(abi.Tensor), len(signature)
        first = [0, count, count + results, count + 2 * results]
        self._fields = [begin + at * size if at < known else None for at in first]
        self._call = abi.Call(
            ctypes.sizeof(abi.Call), count, results, 0, *self._fields, op["user_data"] or None,
            ctypes.addressof(self._error), ERROR_BYTES,
        )  # fmt: skip
        self._address = ctypes.addressof(self._call)
        self._function = abi.CALL_FUNCTION(op[FUNCTIONS.get(command, "forward")])
        self._validate = (
            abi.CALL_FUNCTION(op["validate"]) if command == ch.FORWARD and op["validate"] else None
        )

    def run(self) -> tuple[bytes, str]:
        """Call the function; the first call of `forward`, or each, has the inputs looked at before."""
        if self._validate is not None:
            call = self._call
            call.outputs = None
            self._error[0] = b"\0"
            status = self._validate(self._address)
            call.outputs = self._fields[1]
            if status != abi.OK:
                return self._refused(status, "validate")
            if self._op["flags"] & abi.VALIDATE_BY_SHAPE:
                self._validate = None
        self._error[0] = b"\0"  # a call that succeeded may have written there
        status = self._function(self._address)
        return (ch.DONE, "") if status == abi.OK else self._refused(status, "")

    def _refused(self, status: int, function: str) -> tuple[bytes, str]:
        message = self._error.value.decode(errors="replace")
        ctypes.memset(self._error, 0, ERROR_BYTES)
        return ch.REFUSED, json.dumps([status, message, function])

    def rules(self, name: str) -> tuple[bytes, str]:
        """Return the shape, the dtype or the device of each output."""
        ask = getattr(self, f"_{name}")
        found = []
        for output in range(self._op["num_outputs"]):
            self._error[0] = b"\0"
            status, value = ask(self._op[name], output)
            if status != abi.OK:
                return self._refused(status, "")
            found.append(value)
        return ch.DONE, json.dumps(found)

    def _output_shape(self, function: int, output: int) -> tuple[int, list[int] | int]:
        extents, ndim = (abi.i64 * abi.MAX_NDIM)(), abi.i32()
        call = abi.SHAPE_FUNCTION(function)
        status = call(self._address, output, ctypes.addressof(extents), ctypes.byref(ndim))
        return status, list(extents)[: ndim.value] if 0 <= ndim.value <= abi.MAX_NDIM else ndim.value

    def _output_dtype(self, function: int, output: int) -> tuple[int, int]:
        dtype = abi.i32()
        return abi.DTYPE_FUNCTION(function)(self._address, output, ctypes.byref(dtype)), dtype.value

    def _output_device(self, function: int, output: int) -> tuple[int, str | None]:
        device = abi.text()
        status = abi.DEVICE_FUNCTION(function)(self._address, output, ctypes.byref(device))
        return status, None if device.value is None else device.value.decode(errors="replace")


def _fill(tensor: abi.Tensor, what: Any, shape: tuple[int, ...] | None) -> Any:
    """Describe an array: its dtype's number, or its device where that is asked; no shape where that does not matter."""
    tensor.device = what.encode() if isinstance(what, str) else b"cpu" if what and shape is not None else None
    tensor.dtype = what if isinstance(what, int) else 0
    if shape is None:
        return None
    extents = (abi.i64 * max(len(shape), 1))(*shape)
    tensor.shape, tensor.ndim, tensor.size = ctypes.addressof(extents), len(shape), 1
    for extent in shape:
        tensor.size *= extent
    return extents
