"""ONNX's operators that compute value by value, of one tensor or of several that broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.one_instruction import ValueByValue
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import arithmetic, shapes
from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import range_of_values
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD
from brainsmith.graph.range_rules import TRUTHS, range_of

if TYPE_CHECKING:
    from brainsmith.graph.node_view import NodeView


_EXACT = (
    "Abs", "Add", "Ceil", "Div", "Floor", "Max", "Min", "Mul", "Neg", "PRelu", "Reciprocal", "Relu", "Round", "Sign",
    "Sqrt", "Sub", "Sum", "Where",
)  # fmt: skip
"""What IEEE 754 rounds in one way."""

_ROUNDED = ("Cos", "Exp", "HardSigmoid", "Log", "Mean", "Sigmoid", "Sin", "Tanh")
"""What each library rounds in its own way."""

_LEFT = (
    "Acos", "Asin", "Atan", "BitShift", "Cosh", "Elu", "Erf", "Gelu", "HardSwish", "Mish", "Mod", "Selu", "Sinh",
    "Softplus", "Softsign", "Tan", "ThresholdedRelu",
)  # fmt: skip
"""What programs leave to ONNX Runtime, as `IsInf`."""

_OTHER_ENDS = ("Max", "Min", "PRelu")
"""Of NaN and of zeros of both signs NumPy gives another one than ONNX Runtime."""

_ATTRIBUTES = {"HardSigmoid": {"alpha": 0.2, "beta": 0.5}, "LeakyRelu": {"alpha": 0.01}}
"""What functions take after the inputs, and its defaults."""


@reads(STANDARD, *_EXACT, *_ROUNDED, *_LEFT, *_ATTRIBUTES, *TRUTHS)
def elementwise(node: NodeView) -> ValueByValue:
    """Read one."""
    return _applied(node, node.kind, rounds=node.kind in _ROUNDED, other_ends=node.kind in _OTHER_ENDS)


@reads(STANDARD, "Pow")
def power(node: NodeView) -> ValueByValue:
    """Read one; squares are products, a root is as IEEE 754 has it, and ONNX Runtime raises whole numbers."""
    exponent = node.constant(1)
    stated = exponent.item() if exponent is not None and exponent.size == 1 else None
    of_floats, by_floats = (node.dtype(name) == np.float32 for name in node.inputs)
    if stated == 2 and of_floats:
        return _applied(node, "Square")
    name = "PowHalf" if stated == 0.5 else "Pow"
    return _applied(node, name if of_floats and by_floats else "", rounds=True)


def _applied(node: NodeView, name: str, **stated: bool) -> ValueByValue:
    """Return a function of the inputs; there is no instruction for one that is not among those of NumPy."""
    defaults, kind = _ATTRIBUTES.get(name, {}), node.dtype(node.inputs[0])
    attributes = [np.asarray(node.attribute(key, default), kind) for key, default in defaults.items()]
    found = range_of(name, [node.range(given) for given in node.inputs])
    if found is not None and not found.fits(node.dtype(node.outputs[0])):
        found = None
    function = arithmetic.apply if name in arithmetic.FUNCTIONS else None
    return ValueByValue(function, [*node.inputs, *attributes], {"name": name}, [found], **stated)


@reads(STANDARD, "Clip")
def clip(node: NodeView) -> ValueByValue:
    """Read one; its limits were attributes until opset 10.

    One that is not stated is the last finite number, as ONNX Runtime's, which cuts infinity. It takes NaN as a limit.
    """
    x = node.inputs[0]
    dtype = node.dtype(x)
    if dtype.kind not in "fiu":
        raise Unsupported("it clips floats of few bits")
    last = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    limits: list[str | Array] = [
        node.inputs[at] if node.given(at) else np.asarray(node.attribute(name, end), dtype)
        for at, name, end in ((1, "min", last.min), (2, "max", last.max))
    ]
    low, high = (node.range(limit) if isinstance(limit, str) else range_of_values(limit) for limit in limits)
    found = range_of("Min", [range_of("Max", [node.range(x), low]), high])
    constants = [node.constant(at) for at in (1, 2)]
    numbers = not any(limit is not None and np.isnan(limit).any() for limit in constants)
    return ValueByValue(arithmetic.clip if numbers else None, [x, *limits], {}, [found])


@reads(STANDARD, "Cast")
def cast(node: NodeView) -> ValueByValue:
    """Read one; ONNX Runtime casts strings, and floats of few bits."""
    from onnx import helper

    to, given = np.dtype(helper.tensor_dtype_to_np_dtype(node.needed("to"))), node.range(node.inputs[0])
    plain = all(dtype.kind in "biuf" for dtype in (to, node.dtype(node.inputs[0])))
    same = given is not None and given.fits(to)
    return ValueByValue(shapes.cast if plain else None, node.inputs[:1], {"dtype": to.name}, moved=same)
