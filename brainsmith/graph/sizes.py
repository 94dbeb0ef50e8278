"""What a model says of sizes: shapes, constants and numbers of bits that no array and no circuit can have."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.graph.computed_numbers import EXTERNAL, computed_numbers, values_of
from brainsmith.graph.datatype_names import MOST_BITS
from brainsmith.graph.well_formed import node_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_ELEMENTS = 1 << 28
"""Of a tensor between two nodes: 1 GB in float32."""
_BIT_WIDTHS = {"Quant": (3,), "IntQuant": (3,), "Trunc": (3, 4, 5), "FloatQuant": (2, 3)}
"""Inputs of QONNX's quantisers that are numbers of bits, by their places; `Trunc` of version 2 has a scale at 4."""
_SHAPES = {"ConstantOfShape": 0, "Expand": 1, "Tile": 1, "Pad": 1}
"""Inputs that say how large an output is, or by how much it grows, by their places."""
_GROWTH = ("pads", "output_shape", "output_padding")
"""Attributes that do."""
_MOST_DIMENSIONS = 64
"""Of an array in NumPy."""
_PACKED = {21: 2, 22: 2, 23: 2, 25: 4, 26: 4}
"""How many values share a byte, by type (INT4, UINT4, FLOAT4E2M1, UINT2, INT2)."""


def size_faults(graph: Any) -> Iterator[str]:
    """Yield what is wrong with the shapes and constants of one graph; not of those inside of its nodes."""
    constants = {tensor.name for tensor in graph.initializer}
    for value in (*graph.input, *graph.output, *graph.value_info):
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim if not dim.dim_param]
        if value.name not in constants:
            yield from _shape_faults(f"tensor '{value.name}'", dims, MOST_ELEMENTS)
    for tensor in graph.initializer:
        yield from constant_faults(f"constant '{tensor.name}'", tensor)


def constant_faults(what: str, tensor: Any) -> Iterator[str]:
    """Yield what is wrong with a constant: a size that is impossible, or that its data do not have."""
    dims = list(tensor.dims)
    if tensor.data_type not in _known_types():
        yield f"{what} has the data type {tensor.data_type}, and ONNX knows none of that number"
    yield from _shape_faults(what, dims, None)
    if tensor.data_location == EXTERNAL or min(dims, default=0) < 0:
        return
    held, shared = _elements_held(tensor), _PACKED.get(tensor.data_type, 1)
    if held is not None and held != -(-math.prod(dims) // shared):
        data = f"its data have {'room for ' if shared > 1 else ''}{plural(held * shared, 'element')}"
        yield f"{what} has the shape {_text(dims)}, and {data}"
    elif shared == 4 and not dims:
        yield f"{what} is a number of 2 bits without axes, which onnx cannot read. Give it the shape [1]"


def bit_width_faults(nodes: list[Any], constants: Mapping[str, Any]) -> Iterator[str]:
    """Yield quantisers whose number of bits is a constant that cannot be one, or is computed of such alone.

    Args:
        nodes: Of a graph.
        constants: Its constants, as tensors by name.
    """
    computed: dict[str, Any] | None = None
    for node in nodes:
        places = _BIT_WIDTHS.get(node.op_type, ())
        if node.op_type == "Trunc":
            places = (3, len(node.input) - 1)
        for place in dict.fromkeys(places):
            name = node.input[place] if place < len(node.input) else ""
            if name in constants:
                values = values_of(constants[name])
            else:
                computed = computed_numbers(nodes, constants) if computed is None else computed
                values = computed.get(name)
            if values is not None and (worst := _worst(values)) is not None:
                yield (
                    f"{node_text(node)} has {worst:g} bits (its input '{name}'), and there can be "
                    f"up to {MOST_BITS}"
                )


def growth_faults(nodes: list[Any], constants: Mapping[str, Any]) -> Iterator[str]:
    """Yield ONNX's nodes that make a tensor of more elements than there can be, as a constant of theirs says.

    Args:
        nodes: Of a graph.
        constants: Its constants, as tensors by name.
    """
    for node in nodes:
        place = _SHAPES.get(node.op_type)
        tensor = None if place is None or place >= len(node.input) else constants.get(node.input[place])
        said = [list(attribute.ints) for attribute in node.attribute if attribute.name in _GROWTH]
        if tensor is not None:
            said.append(_whole_numbers(tensor))
        for numbers in said:
            shape = node.op_type in ("ConstantOfShape", "Expand", "Tile")
            if (abs(math.prod(numbers)) if shape else max(map(abs, numbers), default=0)) > MOST_ELEMENTS:
                yield f"{node_text(node)} makes a tensor of more than {MOST_ELEMENTS:,} elements: {_text(numbers)}"


def _whole_numbers(tensor: Any) -> list[int]:
    """Return the values of a constant that states a size; an empty list if they are not whole numbers in a row."""
    few = len(tensor.dims) < 2 and math.prod(tensor.dims) <= _MOST_DIMENSIONS
    values = values_of(tensor) if few else None
    return [] if values is None or values.dtype.kind not in "iu" else [int(value) for value in values.ravel()]


def _worst(values: Any) -> float | None:
    """Return a number of bits that cannot be one; None if there is none."""
    return next((float(value) for value in values.ravel() if not 0 <= float(value) <= MOST_BITS), None)


def _shape_faults(what: str, dims: list[int], most: int | None) -> Iterator[str]:
    if len(dims) > _MOST_DIMENSIONS:
        yield f"{what} has {len(dims)} dimensions, and there can be up to {_MOST_DIMENSIONS}"
    elif any(dim < 0 for dim in dims):
        yield f"{what} has the shape {_text(dims)}, and a dimension cannot be negative"
    elif most is not None and math.prod(dims) > most:
        yield f"{what} has the shape {_text(dims)}, which is more than {most:,} elements"


@cache
def _known_types() -> frozenset[int]:
    from onnx import TensorProto

    return frozenset(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}


def _elements_held(tensor: Any) -> int | None:
    """Return how many elements the data of a constant have; None where that is not known."""
    from onnx import helper

    try:
        size = helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        field = helper.tensor_dtype_to_field(tensor.data_type)
    except (KeyError, ValueError):
        return None
    if data := tensor.raw_data:  # a copy, so it is taken once
        return int(len(data) // size)
    held = len(getattr(tensor, field))
    return held // 2 if tensor.data_type in (14, 15) else held  # complex numbers take two


def _text(dims: list[int]) -> str:
    return f"[{', '.join(map(str, dims))}]"
