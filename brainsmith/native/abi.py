"""The structures of `include/brainsmith_plugin.h` for ctypes, read from there.

The child process that tries a library imports this: it needs nothing but ctypes.
"""

from __future__ import annotations

import ctypes

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, ClassVar

ABI_VERSION = 1
MAX_NDIM = 64
MAX_ARRAYS = 64
"""The most inputs, and the most outputs, of an operation."""

OK, ERROR, INVALID_INPUT, PANIC = range(4)
VALIDATE_BY_SHAPE = 1
KNOWN_FLAGS = VALIDATE_BY_SHAPE

DTYPES = {
    1: "float32", 2: "float64", 3: "float16", 4: "int8", 5: "int16", 6: "int32", 7: "int64",
    8: "uint8", 9: "uint16", 10: "uint32", 11: "uint64", 12: "bool",
}  # fmt: skip
"""The numpy names of the dtypes' numbers."""

u32, i32, i64, u64 = ctypes.c_uint32, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64
pointer, text = ctypes.c_void_p, ctypes.c_char_p


_KINDS = {
    "uint32_t": u32, "int32_t": i32, "bs_dtype": i32, "int64_t": i64, "uint64_t": u64, "size_t": ctypes.c_size_t,
}  # fmt: skip


def _read_structures() -> dict[str, list[tuple[str, Any]]]:
    """Return the fields of the header's structures; what is not one of the kinds above is an address.

    A field is one line, such as `const int64_t *shape;` or `void (*destroy)(...);`.
    """
    found: dict[str, list[tuple[str, Any]]] = {}
    with open(f"{__file__.rpartition('/')[0]}/include/brainsmith_plugin.h", encoding="utf-8") as header:  # noqa: PTH123
        for line in header:
            declaration, end, _ = line.partition(";")
            words = declaration.split()
            if line.startswith("typedef struct"):
                fields = found[words[2]] = []
            elif line.startswith("    ") and end and found:
                name = declaration.partition("(*")[2].partition(")")[0] or words[-1]
                fields.append(
                    (name.lstrip("*"), pointer if "*" in declaration else _KINDS.get(words[0], pointer))
                )
    return found


_STRUCTURES = _read_structures()


class CTensor(ctypes.Structure):
    """`bs_tensor`: an array."""

    _fields_: ClassVar = [
        (name, text if name == "device" else kind) for name, kind in _STRUCTURES["bs_tensor"]
    ]


class Call(ctypes.Structure):
    """`bs_call`: what each function of an operation is given."""

    _fields_: ClassVar = _STRUCTURES["bs_call"]


class OpTable(ctypes.Structure):
    """`bs_op`: an operation. Strings are addresses, as a plugin may have written anything there."""

    _fields_: ClassVar = _STRUCTURES["bs_op"]


class PluginTable(ctypes.Structure):
    """`bs_plugin_table`: what `create_plugin` returns."""

    _fields_: ClassVar = _STRUCTURES["bs_plugin_table"]


class Host(ctypes.Structure):
    """`bs_host`: what `create_plugin` is given."""

    _fields_: ClassVar = [
        (name, text if name == "version" else kind) for name, kind in _STRUCTURES["bs_host"]
    ]


# Functions are called with addresses, which ctypes passes on without looking at them.
CALL_FUNCTION = ctypes.CFUNCTYPE(i32, pointer)
SHAPE_FUNCTION = ctypes.CFUNCTYPE(i32, pointer, u32, pointer, ctypes.POINTER(i32))
DTYPE_FUNCTION = ctypes.CFUNCTYPE(i32, pointer, u32, ctypes.POINTER(i32))
DEVICE_FUNCTION = ctypes.CFUNCTYPE(i32, pointer, u32, ctypes.POINTER(text))
CREATE_FUNCTION = ctypes.CFUNCTYPE(pointer, ctypes.POINTER(Host))
DESTROY_FUNCTION = ctypes.CFUNCTYPE(None, pointer)
