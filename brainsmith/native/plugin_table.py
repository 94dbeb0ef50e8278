"""A plugin's table as plain values: read alike by the child process that probes a library and by its host."""

from __future__ import annotations

import ctypes

from brainsmith import TYPE_CHECKING
from brainsmith.native import abi

if TYPE_CHECKING:
    from typing import Any

ERROR_BYTES = 1024
_TEXTS = ("name", "version", "description", "author", "min_brainsmith", "max_brainsmith")


def create(library: ctypes.CDLL, host_version: str) -> tuple[int, str]:
    """Call `create_plugin`.

    Args:
        library: What exports it.
        host_version: What the plugin gets as the host's version.

    Returns:
        The address of the table, 0 for none; and the message of a plugin that gave none.

    Raises:
        AttributeError: The library exports no such function.
    """
    function = ctypes.cast(library.create_plugin, ctypes.c_void_p).value or 0
    error = ctypes.create_string_buffer(ERROR_BYTES)
    host = abi.Host(
        ctypes.sizeof(abi.Host), abi.ABI_VERSION, host_version.encode(), ctypes.addressof(error), ERROR_BYTES
    )
    address = abi.CREATE_FUNCTION(function)(ctypes.byref(host))
    return address or 0, error.raw.partition(b"\0")[0].decode(errors="replace")


def describe(address: int) -> dict[str, Any]:
    """Return what a table says, in plain values; of one of another version or size, these two alone.

    Functions are addresses, 0 for none. Nothing is judged here: `library_checks.check_table` does.
    """
    head = (abi.u32 * 2).from_address(address)
    if head[0] != abi.ABI_VERSION or head[1] < ctypes.sizeof(abi.PluginTable):
        return {"abi_version": head[0], "struct_size": head[1]}
    found = _fields(abi.PluginTable.from_address(address))
    operations, count = found["ops"], found["num_ops"]
    known = operations and count <= _MOST_OPS
    addresses = (abi.pointer * count).from_address(operations) if known else ()
    found["ops"] = [_describe_op(one) if one else None for one in addresses]
    return found


_MOST_OPS = 10_000
"""More in a table is a number that was never written, and reading on from there finds no operations."""


def _describe_op(address: int) -> dict[str, Any]:
    size = abi.u32.from_address(address).value
    if size < ctypes.sizeof(abi.OpTable):
        return {"struct_size": size}
    return _fields(abi.OpTable.from_address(address))


def _fields(structure: ctypes.Structure) -> dict[str, Any]:
    """Return the fields of a structure by name: texts as such, all others as numbers."""
    values = {name: getattr(structure, name) for name, *_ in structure._fields_}
    return {name: _text(value) if name in _TEXTS else value or 0 for name, value in values.items()}


def _text(address: int | None) -> str | None:
    """Return a C string; bytes that are no UTF-8 are kept as escapes, which no name may have."""
    return ctypes.string_at(address).decode(errors="backslashreplace") if address else None
