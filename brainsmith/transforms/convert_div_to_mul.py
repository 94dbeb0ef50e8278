"""ConvertDivToMul: division by a constant into multiplication by its reciprocal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, is_standard

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="topology_opt",
    description="Convert division by a constant into multiplication by its reciprocal",
    tags=("arithmetic", "lowering"),
)
class ConvertDivToMul(Transformation):
    """Convert `Div(x, constant)` into `Mul(x, 1 / constant)`.

    The reciprocal is computed in double precision (or better) and rounded once to the element type, so the
    result differs from the quotient by at most 1.5 units in the last place; by nothing where the constant is
    a power of two.

    Left alone, because the product would not be the quotient:
    - a constant with a zero, an infinity or a NaN in it, or whose reciprocal is infinite or subnormal;
    - integer element types: ONNX divides them with truncation;
    - an output that is annotated as integer, unless every divisor is a power of two: `49 * (1 / 49)` is not
      1;
    - a constant numerator (that is no division by a constant), and a divisor that a caller may override.

    A divisor that several nodes share gets one reciprocal; it is removed when nothing else reads it.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such division; the flag is True exactly when there was one."""
        view = GraphView(model)
        reciprocals: dict[str, str] = {}
        for node in [node for node in model.graph.node if is_standard(node, "Div")]:
            divisor = node.input[1]
            if divisor not in reciprocals:
                value = view.constant(divisor)
                inverse = None if value is None else _reciprocal(value)
                if inverse is None or not _exact_enough(view, node, inverse):
                    continue
                reciprocals[divisor] = view.add_constant(f"{divisor}_reciprocal", inverse)
            elif not _exact_enough(view, node, view.constant(reciprocals[divisor])):
                continue
            product = helper.make_node(
                "Mul", [node.input[0], reciprocals[divisor]], node.output, name=node.name
            )
            view.replace(node, [product])
        view.drop_unread(reciprocals)
        return model, bool(reciprocals)


def _reciprocal(divisor: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return the reciprocals in the element type of the divisors, or None where one of them has none."""
    if not np.issubdtype(divisor.dtype, np.floating):
        return None
    with np.errstate(all="ignore"):
        inverse: npt.NDArray[Any] = np.asarray(1 / divisor.astype(np.longdouble)).astype(divisor.dtype)
    usable = np.isfinite(divisor) & np.isfinite(inverse) & (np.abs(inverse) >= np.finfo(divisor.dtype).tiny)
    return inverse if bool(usable.all()) else None


def _exact_enough(view: GraphView, node: NodeProto, inverse: npt.NDArray[Any] | None) -> bool:
    """Tell whether the product may stand where the quotient's datatype annotation stands."""
    if inverse is None:
        return False
    integer = view.model.get_tensor_datatype(node.output[0]).is_integer()
    return not integer or bool((np.abs(np.frexp(inverse)[0]) == 0.5).all())
