"""AbsorbPositionsIntoThresholds: an added constant with a number for every position goes into the thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from onnx import TensorProto
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.absorb_affine import least_integers
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, set_attribute

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper


class _Match(NamedTuple):
    """An Add before a MultiThreshold: what is added to, the constant and the thresholds."""

    add: NodeProto
    threshold: NodeProto
    source: str
    added: npt.NDArray[Any]
    levels: npt.NDArray[Any]


@transform(
    stage="topology_opt",
    description="Absorb an Add of one constant per position and channel into the MultiThreshold after it",
    tags=("streamlining", "transformer"),
)
class AbsorbPositionsIntoThresholds(Transformation):
    """Turn `MultiThreshold(x + positions)` into a MultiThreshold with thresholds of its own for each element.

    The position embedding of a transformer is such a constant: it differs from token to token, so it fits in no
    threshold per channel. x is seen as one row of as many channels as it has elements; a Reshape before and one
    after, which move no data, say so. FINN's AbsorbAddIntoMultiThreshold serves constants per channel.

    Where x is integers the thresholds are the least ones with which the Add, rounding included, reaches the old ones:
    no value comes to another level. Else they are what is left when the constant is taken away.

    Left alone: constants that differ along one axis only, or not at all; a leading dimension of x other than
    1; an Add that something else reads too; thresholds that are not constant, or per channel of another axis than
    the last.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Absorb every such constant; the flag is True exactly when there was one."""
        view = GraphView(model)
        found = [node for node in model.graph.node if node.op_type == "MultiThreshold"]
        matches = [match for node in found if (match := _match(view, node)) is not None]
        for match in matches:
            _absorb(view, match)
        return model, bool(matches)


def _match(view: GraphView, threshold: NodeProto) -> _Match | None:
    add = view.producer(threshold.input[0], "Add")
    levels = view.constant(threshold.input[1])
    if add is None or levels is None or view.readers(add.output[0]) != 1 or not is_standard(add, "Add"):
        return None
    constants = {name: value for name in add.input if (value := view.constant(name)) is not None}
    varying = [name for name in add.input if name not in constants]
    if len(constants) != 1 or len(varying) != 1:
        return None
    (added,) = constants.values()
    shape = view.static_shape(varying[0], TensorProto.FLOAT)
    if shape is None or len(shape) < 3 or shape[0] != 1 or not _per_position(added, shape):
        return None
    last = attribute(threshold, "data_layout", b"NCHW")[-1:] == b"C"
    if len(levels) != 1 and not (last and len(levels) == shape[-1]):
        return None
    return _Match(add, threshold, varying[0], added, levels)


def _per_position(added: npt.NDArray[Any], shape: list[int]) -> bool:
    """Tell whether a constant differs along several axes, and makes x no larger; along one it is per channel."""
    return (
        sum(size > 1 for size in added.shape) > 1 and list(np.broadcast_shapes(added.shape, shape)) == shape
    )


def _absorb(view: GraphView, match: _Match) -> None:
    model = view.model
    shape = model.get_tensor_shape(match.source)
    size = int(np.prod(shape))
    result = match.threshold.output[0]
    stem = match.threshold.name or result
    levels = view.add_constant(
        f"{stem}_levels", *_levels(match, shape, model.get_tensor_datatype(match.source))
    )
    # Three axes: FINN takes a Reshape to two for the Flatten before a matrix product, and drops it.
    flat = view.new_tensor(f"{stem}_row", [1, 1, size])
    counted = view.new_tensor(f"{stem}_counted", [1, 1, size], model.get_tensor_datatype(result))
    fresh = type(match.threshold)()
    fresh.CopyFrom(match.threshold)
    fresh.input[:] = [flat, levels]
    fresh.output[:] = [counted]
    set_attribute(fresh, "data_layout", "NWC")
    before = view.reshape(match.source, flat, [-1, 1, size], f"{stem}_to_row")
    behind = view.reshape(counted, result, [-1, *shape[1:]], f"{stem}_from_row")
    unread = [*match.add.input, *match.add.output, match.threshold.input[1]]
    view.replace(match.threshold, [before, fresh, behind], (name for name in unread if name != match.source))


def _levels(
    match: _Match, shape: list[int], datatype: BaseDataType
) -> tuple[npt.NDArray[Any], BaseDataType | None]:
    """Return the thresholds of each element of x, and their datatype if x is integers."""
    added = np.broadcast_to(match.added, shape).reshape(-1)
    each = np.tile(match.levels, (added.size // len(match.levels), 1))
    if not datatype.is_integer():
        return (each - added[:, np.newaxis]).astype(match.levels.dtype), None
    low, high = int(datatype.min()), int(datatype.max())
    column = added.astype(np.float32)[:, np.newaxis]
    least = least_integers(lambda values: values + column, added.size, each.astype(np.float32), low, high)
    return least, integer_datatype(min(low, -1), high + 1)
