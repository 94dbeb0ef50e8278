"""Datatypes of ranges of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

WHOLE = 2**24
"""Up to here all whole numbers are exact in a float32, in which the Python models give theirs."""


def is_wide(kind: BaseDataType) -> bool:
    """Tell whether a datatype of integers has some that float32 does not hold, so that models pass them in float64."""
    return bool(kind.is_integer()) and max(-kind.min(), kind.max()) > WHOLE


def integer_bits(low: int, high: int) -> int:
    """Return how many bits hold all integers from `low` to `high`: two's complement if `low` is below 0; 1 or more."""
    if low < 0:
        return max((~low).bit_length(), high.bit_length() if high > 0 else 0) + 1
    return max(high.bit_length(), 1)


def integer_datatype(low: int, high: int) -> BaseDataType:
    """Return the smallest INT (if `low` is below 0) or UINT datatype that holds all integers from `low` to `high`."""
    from qonnx.core.datatype import DataType

    return DataType[f"{'INT' if low < 0 else 'UINT'}{integer_bits(low, high)}"]


def padded_datatype(kind: BaseDataType, value: int) -> BaseDataType:
    """Return a datatype of integers, or, where it does not hold a value, the smallest that holds it and the value."""
    if kind.allowed(value):
        return kind
    return integer_datatype(min(int(kind.min()), value), max(int(kind.max()), value))


def kind_of(datatype: BaseDataType) -> int:
    """Return how cores read a value: 0 unsigned, 1 in two's complement, 2 one bit for -1 or 1."""
    return 2 if datatype.name == "BIPOLAR" else int(datatype.signed())


def unbipolar_constants(model: ModelWrapper, layer: Any) -> None:
    """Give constants of an element-wise layer two's complement, where FINN's minimisation made them BIPOLAR.

    It takes the smallest datatype that holds -1, for values from -1 to 0 and for zeros alone: a bit that is -1 or 1.

    Args:
        model: Holds the constants.
        layer: QONNX's instance of the node; its attributes and the tensors' annotations change.
    """
    from qonnx.core.datatype import DataType

    for name, attribute in zip(layer.onnx_node.input, ("lhs_dtype", "rhs_dtype"), strict=True):
        values = model.get_initializer(name)
        if values is not None and layer.get_nodeattr(attribute) == "BIPOLAR":
            kind = "INT2" if values.min() < 0 else "UINT1"
            layer.set_nodeattr(attribute, kind)
            model.set_tensor_datatype(name, DataType[kind])
