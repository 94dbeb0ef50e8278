"""Matrix products of integers in standard operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.program.exact_products import sums_of
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


def write_product(node: NodeView, emit: Emitter, x: str, weights: Array, output: str = "") -> str:
    """Write x @ weights: in float32 if that is exact or need not be, else in float64, which an output of it keeps.

    Raises:
        Unsupported: Whole numbers become too large for float64.
    """
    sums = sums_of(node.range(x, len(weights)), weights)
    exact = "float32" if sums is None else sums.exact
    if sums is not None and exact == "int64":
        raise Unsupported(f"its sums may reach {sums.bound:.3g}, beyond 2^53, where float64 is not exact")
    if exact == "float32":
        product = emit.add("MatMul", [x, emit.constant(weights, "weights")], output)
    else:
        wide = emit.add("Cast", [x], to=11)
        held = emit.constant(weights, "weights", np.float64)
        if output and node.dtype(output) == np.float64:
            product = emit.add("MatMul", [wide, held], output)
        else:
            product = emit.add("Cast", [emit.add("MatMul", [wide, held])], output, to=1)
    if sums is not None:
        node.prove_range(product, sums.range)
    return product
