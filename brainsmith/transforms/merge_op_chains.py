"""MergeOpChains: two operators with constants, one after the other, into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from brainsmith.plugin.core import transform
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import GraphView, attribute
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="topology_opt",
    description="Merge consecutive Mul, Add, Reshape or Transpose operators with constants into one",
    tags=("arithmetic", "layout"),
)
class MergeOpChains(NodeRewrite):
    """Merge Mul/Mul, Add/Add, Reshape/Reshape and Transpose/Transpose, where all but the data are constants.

    Longer chains become one operator as well. Two operators are merged only if nothing but the second reads
    the first one's result: a fork, a graph output in between, and a reader in a nested graph keep both.

    - Mul, Add: the constants are combined in double precision (or better) and rounded once. Integer element
      types wrap, as ONNX's do, so they stay exact. Floats: `(x * a) * b` and `x * (a * b)` differ by at most
      2 units in the last place; `(x + a) + b` and `x + (a + b)` by 2 units in the last place of the largest
      of |x + a|, |a + b| and the result. Left alone where the combined constant overflows or becomes
      subnormal, or where broadcasting would make it larger than both constants (a row and a column would
      become a matrix).
    - The combined constant is annotated as integer, with the smallest datatype that holds it, if both
      constants were.
    - Reshape: 0 (copy this dimension) and -1 (infer this one) of the second shape keep their meaning; left
      alone where a copied dimension is not known. Transpose: the permutations are composed. Two that cancel
      become one that does nothing; QONNX's and FINN's RemoveIdentity transforms take it out.
    """

    op_types = ("Mul", "Add", "Reshape", "Transpose")

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Merge until none is left before a node; in graph order, what stands there is as short as it can be."""
        output = node.output[0]
        modified = _merge_before(view, output)
        while modified and _merge_before(view, output):
            pass
        return modified


def _merge_before(view: GraphView, output: str) -> bool:
    """Merge the node that makes a tensor with one before it; tell whether that was possible."""
    node = view.producer(output, *_MERGES)
    if node is None:
        return False
    for between, first in _operators_before(view, node):
        merged = _MERGES[node.op_type](view, first, node, between)
        if merged is not None:
            view.replace(node, [merged], [*first.output, *first.input, *node.input])
            return True
    return False


def _operators_before(view: GraphView, node: NodeProto) -> list[tuple[str, NodeProto]]:
    """Return the operators of the same type whose result only this node reads, by that tensor's name."""
    places = node.input if node.op_type in ("Mul", "Add") else node.input[:1]
    found = [(name, view.producer(name, node.op_type)) for name in places if view.readers(name) == 1]
    return [(name, first) for name, first in found if first is not None]


def _merge_arithmetic(view: GraphView, first: NodeProto, second: NodeProto, between: str) -> NodeProto | None:
    """Combine the constants of two Mul or two Add nodes."""
    inner, outer = _data_and_constant(view, first), _data_and_constant(view, second, data=between)
    if inner is None or outer is None:
        return None
    (data, one), (_, other) = inner, outer
    combined = _combine(second.op_type, view.constant(one), view.constant(other))
    if combined is None:
        return None
    name = view.add_constant(f"{other}_merged", combined, _datatype(view.model, one, other, combined))
    return helper.make_node(second.op_type, [data, name], second.output, name=second.name)


def _data_and_constant(view: GraphView, node: NodeProto, data: str = "") -> tuple[str, str] | None:
    """Return the names of a node's data and constant, in whichever order they stand."""
    for name, constant in (tuple(node.input), tuple(reversed(node.input))):
        if data in ("", name) and view.constant(constant) is not None:
            return name, constant
    return None


def _combine(
    op_type: str, one: npt.NDArray[Any] | None, other: npt.NDArray[Any] | None
) -> npt.NDArray[Any] | None:
    """Return the product or sum of two constants, or None where it cannot stand for both."""
    if one is None or other is None or one.dtype != other.dtype:
        return None
    function = np.multiply if op_type == "Mul" else np.add
    if np.broadcast(one, other).size > max(one.size, other.size):
        return None
    with np.errstate(all="ignore"):
        if np.issubdtype(one.dtype, np.integer):
            return np.asarray(function(one, other), dtype=one.dtype)
        if not np.issubdtype(one.dtype, np.floating):
            return None
        exact = function(one.astype(np.longdouble), other.astype(np.longdouble))
        combined: npt.NDArray[Any] = np.asarray(exact).astype(one.dtype)
    normal = (np.abs(combined) >= np.finfo(one.dtype).tiny) | (exact == 0)
    return combined if bool((np.isfinite(combined) & normal).all()) else None


def _datatype(model: ModelWrapper, one: str, other: str, combined: npt.NDArray[Any]) -> BaseDataType | None:
    """Return the smallest integer datatype of the values, or None unless both constants are integers."""
    if not combined.size or not all(model.get_tensor_datatype(name).is_integer() for name in (one, other)):
        return None
    return integer_datatype(int(combined.min()), int(combined.max()))


def _merge_reshapes(view: GraphView, first: NodeProto, second: NodeProto, between: str) -> NodeProto | None:
    """Make one Reshape to the second shape; its copied dimensions are those of the tensor in between."""
    inner, outer = view.constant(first.input[1]), view.constant(second.input[1])
    if inner is None or outer is None:
        return None
    allowzero = attribute(second, "allowzero", 0)
    shape = outer.tolist()
    for place, length in enumerate(shape):
        if length == 0 and not allowzero:
            known = _copied_length(view, first, inner.tolist(), place, between)
            if known is None:
                return None
            shape[place] = known
    name = second.input[1]
    if shape != outer.tolist():
        name = view.add_constant(f"{name}_merged", np.asarray(shape, dtype=np.int64))
    attrs = {"allowzero": 1} if allowzero else {}
    return helper.make_node("Reshape", [first.input[0], name], second.output, name=second.name, **attrs)


def _copied_length(
    view: GraphView, first: NodeProto, shape: list[int], place: int, between: str
) -> int | None:
    """Return what a Reshape from the first one's input says for a dimension copied from its output."""
    if place >= len(shape) or (shape[place] == 0 and attribute(first, "allowzero", 0)):
        return None
    if shape[place] >= 0:
        return shape[place]
    declared = view.model.get_tensor_shape(between) or []
    return declared[place] if len(declared) == len(shape) and declared[place] > 0 else None


def _merge_transposes(view: GraphView, first: NodeProto, second: NodeProto, between: str) -> NodeProto | None:
    """Compose two permutations; one that is not stated reverses the axes."""
    one, other = attribute(first, "perm"), attribute(second, "perm")
    rank = len(one or other or []) or view.rank(between)
    if rank is None:
        return None
    reverse = list(reversed(range(rank)))
    perm = [(one or reverse)[axis] for axis in (other or reverse)]
    return helper.make_node("Transpose", [first.input[0]], second.output, name=second.name, perm=perm)


_MERGES = {
    "Mul": _merge_arithmetic,
    "Add": _merge_arithmetic,
    "Reshape": _merge_reshapes,
    "Transpose": _merge_transposes,
}
