"""How a node of each operator looks in a small model: the shape of its data, its constants, its attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from brainsmith.graph.operator_names import QONNX

_RANDOM_SEED = 7


@dataclass(frozen=True)
class Form:
    """A node that reads one tensor of data.

    Attributes:
        shape: Of the data.
        constants: Its other inputs.
        attributes: Of the node.
        domain: Of the node; those outside of ONNX keep the shape of their data.
        binary: Whether its second input may be data, too.
    """

    shape: tuple[int, ...] = (1, 4)
    constants: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = ""
    binary: bool = False


def _some(*shape: int) -> Any:
    """Return values that are the same each time, none of them 0."""
    values = np.random.default_rng(_RANDOM_SEED).uniform(0.5, 2.0, shape)
    return values.astype(np.float32)


def _whole(*values: int) -> Any:
    return np.array(values, np.int64)


_VECTOR, _IMAGE = (1, 4), (1, 4, 6, 6)
_PIXELS: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}

FORMS = {
    "ArgMax": Form(_VECTOR, attributes={"axis": -1}),
    "ArgMin": Form(_VECTOR, attributes={"axis": -1}),
    "AveragePool": Form(_IMAGE, attributes=_PIXELS),
    "BatchNormalization": Form(_IMAGE, (_some(4), _some(4), _some(4), _some(4))),
    "BipolarQuant": Form(_VECTOR, (np.float32(0.5),), domain=QONNX),
    "Cast": Form(_VECTOR, attributes={"to": onnx.TensorProto.FLOAT}),
    "Clip": Form(_VECTOR, (np.float32(-1), np.float32(2))),
    "Concat": Form(_VECTOR, (_some(1, 4),), {"axis": 1}, binary=True),
    "Conv": Form(_IMAGE, (_some(4, 4, 3, 3), _some(4)), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "ConvTranspose": Form(_IMAGE, (_some(4, 4, 2, 2),), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "DepthToSpace": Form(_IMAGE, attributes={"blocksize": 2}),
    "Dropout": Form(_VECTOR),
    "Expand": Form(_VECTOR, (_whole(3, 4),)),
    "Flatten": Form(_IMAGE, attributes={"axis": 1}),
    "Gather": Form(_VECTOR, (_whole(2, 0),), {"axis": 1}),
    "Gemm": Form(_VECTOR, (_some(4, 4), _some(4)), {"alpha": 0.5, "beta": 2.0}),
    "GlobalAveragePool": Form(_IMAGE),
    "GlobalMaxPool": Form(_IMAGE),
    "LayerNormalization": Form((1, 3, 4), (_some(4), _some(4)), {"axis": -1, "epsilon": 1e-5}),
    "MatMul": Form(_VECTOR, (_some(4, 4),)),
    "MaxPool": Form(_IMAGE, attributes=_PIXELS),
    "MultiThreshold": Form(_VECTOR, (np.sort(_some(4, 3)),), domain=QONNX),
    "PRelu": Form(_VECTOR, (_some(4),)),
    "Pad": Form(_IMAGE, (_whole(0, 0, 1, 1, 0, 0, 1, 1), np.float32(0))),
    "Quant": Form(
        _VECTOR,
        (np.float32(0.25), np.float32(0), np.float32(4)),
        {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"},
        QONNX,
    ),
    "ReduceSum": Form(_VECTOR, (_whole(-1),)),
    "Reshape": Form(_IMAGE, (_whole(1, -1),)),
    "Resize": Form(
        _IMAGE, (np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)), {"mode": "nearest"}
    ),
    "Slice": Form(_VECTOR, (_whole(1), _whole(3), _whole(1))),
    "SpaceToDepth": Form(_IMAGE, attributes={"blocksize": 2}),
    "Squeeze": Form((1, 1, 4), (_whole(1),)),
    "Tile": Form(_VECTOR, (_whole(1, 2),)),
    "Transpose": Form(_IMAGE, attributes={"perm": [0, 2, 3, 1]}),
    "Unsqueeze": Form(_VECTOR, (_whole(1),)),
}
"""The operators that need more than data of any shape."""


def form_of(name: str, opset: int) -> Form | None:
    """Return the form of an operator's node; None where none is known.

    Args:
        name: Of the operator.
        opset: The version of ONNX's operators.
    """
    if name in FORMS:
        return FORMS[name]
    if not onnx.defs.has(name, opset):
        return None
    schema = onnx.defs.get_schema(name, opset)
    floats = [one for one in schema.inputs if _takes_floats(schema, one)]
    if any(one.required for one in schema.attributes.values()) or len(floats) < schema.min_input:
        return None
    if schema.min_output != 1 or not schema.inputs:
        return None
    variadic = schema.inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
    if [one.name for one in schema.inputs] == ["A", "B"] or variadic:
        return Form(constants=(_some(4),), binary=True)
    return Form() if schema.min_input == 1 else None


def _takes_floats(schema: Any, one: Any) -> bool:
    allowed = {
        constraint.type_param_str: constraint.allowed_type_strs for constraint in schema.type_constraints
    }
    return "tensor(float)" in allowed.get(one.type_str, [one.type_str])
