"""A plugin's table as plain values: read alike by the child process that probes a library and by its host."""

from __future__ import annotations

import ctypes

from brainsmith.native import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ERROR_BYTES = 1024
_TEXTS = ("name", "version", "description", "author", "min_brainsmith", "max_brainsmith")
_FUNCTIONS = ("validate", "output_shape", "output_dtype", "output_device", "forward", "backward")


def create(function: int, host_version: str) -> tuple[int, str]:
    """Call `create_plugin`.

    Args:
        function: Its address.
        host_version: What the plugin gets as the host's version.

    Returns:
        The address of the table, 0 for none; and the message of a plugin that gave none.
    """
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
    found: dict[str, Any] = {"abi_version": head[0], "struct_size": head[1]}
    if head[0] != abi.ABI_VERSION or head[1] < ctypes.sizeof(abi.PluginTable):
        return found
    table = abi.PluginTable.from_address(address)
    found.update({name: _text(getattr(table, name)) for name in _TEXTS})
    found["destroy"] = table.destroy or 0
    found["num_ops"] = table.num_ops
    found["ops"] = []
    if table.ops and table.num_ops <= _MOST_OPS:
        found["ops"] = [
            _describe_op(one or 0) for one in (abi.pointer * table.num_ops).from_address(table.ops)
        ]
    return found


_MOST_OPS = 10_000
"""More in a table is a number that was never written, and reading on from there finds no operations."""


def _describe_op(address: int) -> dict[str, Any] | None:
    if not address:
        return None
    size = abi.u32.from_address(address).value
    if size < ctypes.sizeof(abi.OpTable):
        return {"struct_size": size}
    op = abi.OpTable.from_address(address)
    found: dict[str, Any] = {
        "struct_size": size,
        "flags": op.flags,
        "name": _text(op.name),
        "description": _text(op.description),
        "num_inputs": op.num_inputs,
        "num_outputs": op.num_outputs,
        "not_differentiable": op.not_differentiable,
        "user_data": op.user_data or 0,
    }
    found.update({name: getattr(op, name) or 0 for name in _FUNCTIONS})
    return found


def _text(address: int | None) -> str | None:
    """Return a C string; bytes that are no UTF-8 are kept as escapes, which no name may have."""
    return ctypes.string_at(address).decode(errors="backslashreplace") if address else None
