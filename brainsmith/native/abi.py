"""The structures of `include/brainsmith_plugin.h` for ctypes, name for name.

The child process that tries a library imports this: it needs nothing but ctypes.
"""

from __future__ import annotations

import ctypes

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import ClassVar

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


class CTensor(ctypes.Structure):
    """`bs_tensor`: an array."""

    _fields_: ClassVar = [
        ("data", pointer),
        ("shape", pointer),
        ("strides", pointer),
        ("size", i64),
        ("dtype", i32),
        ("ndim", i32),
        ("device", text),
    ]


class Call(ctypes.Structure):
    """`bs_call`: what each function of an operation is given."""

    _fields_: ClassVar = [
        ("struct_size", u32),
        ("num_inputs", u32),
        ("num_outputs", u32),
        ("reserved", u32),
        ("inputs", pointer),
        ("outputs", pointer),
        ("grad_outputs", pointer),
        ("grad_inputs", pointer),
        ("user_data", pointer),
        ("error", pointer),
        ("error_size", ctypes.c_size_t),
    ]


class OpTable(ctypes.Structure):
    """`bs_op`: an operation. Strings are addresses, as a plugin may have written anything there."""

    _fields_: ClassVar = [
        ("struct_size", u32),
        ("flags", u32),
        ("name", pointer),
        ("description", pointer),
        ("num_inputs", u32),
        ("num_outputs", u32),
        ("not_differentiable", u64),
        ("user_data", pointer),
        ("validate", pointer),
        ("output_shape", pointer),
        ("output_dtype", pointer),
        ("output_device", pointer),
        ("forward", pointer),
        ("backward", pointer),
    ]


class PluginTable(ctypes.Structure):
    """`bs_plugin_table`: what `create_plugin` returns."""

    _fields_: ClassVar = [
        ("abi_version", u32),
        ("struct_size", u32),
        ("name", pointer),
        ("version", pointer),
        ("description", pointer),
        ("author", pointer),
        ("min_brainsmith", pointer),
        ("max_brainsmith", pointer),
        ("num_ops", u32),
        ("reserved", u32),
        ("ops", pointer),
        ("destroy", pointer),
    ]


class Host(ctypes.Structure):
    """`bs_host`: what `create_plugin` is given."""

    _fields_: ClassVar = [
        ("struct_size", u32),
        ("abi_version", u32),
        ("version", text),
        ("error", pointer),
        ("error_size", ctypes.c_size_t),
    ]


# Functions are called with addresses, which ctypes passes on without looking at them.
CALL_FUNCTION = ctypes.CFUNCTYPE(i32, pointer)
SHAPE_FUNCTION = ctypes.CFUNCTYPE(i32, pointer, u32, pointer, ctypes.POINTER(i32))
DTYPE_FUNCTION = ctypes.CFUNCTYPE(i32, pointer, u32, ctypes.POINTER(i32))
DEVICE_FUNCTION = ctypes.CFUNCTYPE(i32, pointer, u32, ctypes.POINTER(text))
CREATE_FUNCTION = ctypes.CFUNCTYPE(pointer, ctypes.POINTER(Host))
DESTROY_FUNCTION = ctypes.CFUNCTYPE(None, pointer)
