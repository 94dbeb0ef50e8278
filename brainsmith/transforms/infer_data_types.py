"""InferDataTypes: annotations that hold every value."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from qonnx.core.datatype import DataType
from qonnx.transformation.base import Transformation

from brainsmith.graph.integer_range import within
from brainsmith.graph.range_rules import range_of
from brainsmith.plugin.core import transform
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

SIGN = "Sign"
"""Gives 0 of 0; QONNX says that it gives -1 and 1 alone."""

MIXING = ("Concat", "Clip", "Pad", "Scatter", "ScatterElements", "ScatterND")
"""Operators whose output holds values of several inputs; QONNX gives it the first input's datatype."""

PRODUCTS = ("Conv", "Gemm", "MatMul")
"""Operators whose results QONNX annotates as INT32 or UINT32 where they are of integers, whatever they reach."""

ELEMENTWISE = ("Add", "Mul", "Sub")
"""Likewise, of two tensors value by value."""

_WIDE = 1 << 31
_FACTOR = 24
"""Bits of a factor that a float32 holds: a wider type is QONNX's INT32, which says nothing of its values."""


@transform(
    stage="graph_tidying",
    description="Infer the QONNX datatypes of all tensors, such that each holds every value of its tensor",
    tags=("clean-up",),
)
class InferDataTypes(Transformation):
    """Infer datatypes as QONNX does, but for operators that put values of several tensors together.

    A Concat of UINT3 and INT5 is INT5, where QONNX says UINT3, the first; a Pad of BIPOLAR by zeros holds zeros; a
    Clip whose bounds lie outside of its input's type, or are no whole numbers, gives them; a Sign gives 0, too, unless the
    model states that it is BIPOLAR. Such an output gets the
    smallest integer type that holds all, or FLOAT32 where an input does not hold integers. A sum of products that may
    be beyond 32 bits, of 512 factors of 16 bits for example, is INT41 or what else it may need; so is what is added to it.

    Args:
        allow_scaledint_dtypes: Keep SCALEDINT annotations; else they are FLOAT32.
    """

    def __init__(self, allow_scaledint_dtypes: bool = False) -> None:
        super().__init__()
        self.allow_scaledint_dtypes = allow_scaledint_dtypes

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Annotate all outputs of nodes; the flag is True exactly when one changed."""
        from qonnx.transformation import infer_datatypes

        view = GraphView(model)
        modified = False
        for node in model.graph.node:
            wide = _wide(view, node)
            if wide is None and not is_standard(node, SIGN, *MIXING):
                modified |= infer_datatypes._infer_node_datatype(model, node, self.allow_scaledint_dtypes)
                continue
            inferred = _mixed(view, node) if wide is None else wide
            if model.get_tensor_datatype(node.output[0]) != inferred:
                model.set_tensor_datatype(node.output[0], inferred)
                modified = True
        return model, modified


def _wide(view: GraphView, node: NodeProto) -> BaseDataType | None:
    """Return a type that holds what is beyond 32 bits; None of a node that gives nothing like that."""
    if is_standard(node, *PRODUCTS):
        return _wide_sum(view, node)
    return _wide_result(view, node) if is_standard(node, *ELEMENTWISE) else None


def _wide_result(view: GraphView, node: NodeProto) -> BaseDataType | None:
    """Return a type that holds what is made of a wide sum; None if neither operand is one, or they are no integers."""
    kinds = [_datatype(view, name) for name in node.input]
    if (
        not all(kind.is_integer() for kind in kinds)
        or max(kind.bitwidth() for kind in kinds) <= _WIDE.bit_length()
    ):
        return None
    found = range_of(node.op_type, [within(int(kind.min()), int(kind.max())) for kind in kinds])
    return None if found is None else integer_datatype(*found.ends)


def _wide_sum(view: GraphView, node: NodeProto) -> BaseDataType | None:
    """Return a type that holds what integers may come to beyond 32 bits; None within them, or of no integers."""
    kinds = [view.model.get_tensor_datatype(name) for name in node.input if name]
    if not all(kind.is_integer() for kind in kinds):
        return None
    if max(kind.bitwidth() for kind in kinds[:2]) > _FACTOR:
        return None
    left, right, *added = (int(max(-kind.min(), kind.max())) for kind in kinds)
    most = _terms(view, node) * left * right + sum(added)
    if most < _WIDE:
        return None
    return integer_datatype(-most if any(kind.signed() for kind in kinds) else 0, most)


def _terms(view: GraphView, node: NodeProto) -> int:
    """Return how many products a result is the sum of."""
    shape = view.model.get_tensor_shape(node.input[1])
    if not shape:
        return 1
    if node.op_type == "Conv":
        return prod(map(int, shape[1:]))
    return int(shape[-1] if attribute(node, "transB", 0) else shape[max(len(shape) - 2, 0)])


def _mixed(view: GraphView, node: NodeProto) -> BaseDataType:
    if node.op_type == SIGN:
        stated = view.model.get_tensor_datatype(node.output[0])
        has_zero = _datatype(view, node.input[0]).allowed(0)
        return DataType["TERNARY"] if has_zero and stated.name != "BIPOLAR" else DataType["BIPOLAR"]
    if node.op_type == "Concat":
        return _of_all([_datatype(view, name) for name in node.input])
    own = _datatype(view, node.input[0])
    if node.op_type == "Clip":
        return _clipped(view, node, own)
    if node.op_type == "Pad":
        if attribute(node, "mode", b"constant") != b"constant":
            return own
        value = view.number(node, 2, "value", 0.0)
        return DataType["FLOAT32"] if value is None else _of_all([own, _of_values(np.asarray([value]))])
    if attribute(node, "reduction", b"none") != b"none":
        return DataType["FLOAT32"]
    return _of_all([own, _datatype(view, node.input[2])])


def _datatype(view: GraphView, name: str) -> BaseDataType:
    """Return a tensor's datatype; that of the values of a constant that has no annotation."""
    datatype = view.model.get_tensor_datatype(name)
    values = view.constant(name) if datatype == DataType["FLOAT32"] else None
    return datatype if values is None else _of_values(values)


def _of_values(values: np.ndarray) -> BaseDataType:
    if not values.size or not np.all(values == np.rint(values)):
        return DataType["FLOAT32"]
    return integer_datatype(int(values.min()), int(values.max()))


def _of_all(datatypes: Iterable[BaseDataType]) -> BaseDataType:
    """Return a datatype that holds the values of all: one of them, if one does."""
    all_of = list(dict.fromkeys(datatypes))
    if len(all_of) == 1:
        return all_of[0]
    if not all(datatype.is_integer() for datatype in all_of):
        return DataType["FLOAT32"]
    low = min(int(datatype.min()) for datatype in all_of)
    high = max(int(datatype.max()) for datatype in all_of)
    enough = [
        datatype
        for datatype in all_of
        if datatype.min() <= low and high <= datatype.max() and datatype.name != "BIPOLAR"  # which has no 0
    ]
    return enough[0] if enough else integer_datatype(low, high)


def _clipped(view: GraphView, node: NodeProto, own: BaseDataType) -> BaseDataType:
    if not own.is_integer():
        return own
    lowest, highest = view.number(node, 1, "min", -np.inf), view.number(node, 2, "max", np.inf)
    if lowest is None or highest is None:
        return DataType["FLOAT32"]
    if lowest <= own.min() and own.max() <= highest:
        return own
    bounds = [min(max(float(end), lowest), highest) for end in (own.min(), own.max())]
    if any(bound != np.rint(bound) for bound in bounds):
        return DataType["FLOAT32"]
    inside = own.name != "BIPOLAR" and own.min() <= bounds[0] and bounds[1] <= own.max()
    return own if inside else integer_datatype(int(bounds[0]), int(bounds[1]))
