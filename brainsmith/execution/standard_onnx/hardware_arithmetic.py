"""Layers that compute value by value or choose: element-wise arithmetic, Lookup and LabelSelect of FINN."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.standard_onnx.emitter import FLOAT_LIMIT
from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

_ELEMENTWISE = {"ElementwiseAdd": "Add", "ElementwiseSub": "Sub", "ElementwiseMul": "Mul"}


@rewrites(FINN, *_ELEMENTWISE)
def rewrite_elementwise(view: NodeView, emit: Emitter) -> None:
    """Write a sum, difference or product; FINN computes integers in int64 and returns them as float32.

    Raises:
        Unsupported: An integer result may be too large for float32.
    """
    left, right = (view.span(name) for name in view.inputs)
    if left is not None and right is not None:
        apply = {"Add": int.__add__, "Sub": int.__sub__, "Mul": int.__mul__}[_ELEMENTWISE[view.kind]]
        ends = [apply(first, second) for first, second in itertools.product(left, right)]
        if max(map(abs, ends)) >= FLOAT_LIMIT:
            raise Unsupported(f"its results may reach {max(map(abs, ends))}, where float32 is not exact")
        view.prove(view.outputs[0], min(ends), max(ends))
    emit.add(_ELEMENTWISE[view.kind], view.inputs, view.outputs[0])


@rewrites(FINN, "Lookup")
def rewrite_lookup(view: NodeView, emit: Emitter) -> None:
    """Write the rows of a table that numbers name."""
    table = view.needed_constant(1, "table")
    index = (
        view.inputs[0]
        if view.dtype(view.inputs[0]).name in ("int32", "int64")
        else emit.add("Cast", [view.inputs[0]], to=7)
    )
    rows = emit.add("Gather", [emit.constant(table, "table"), index], axis=0)
    emit.reshaped(rows, view.shape(view.outputs[0]), view.outputs[0])
    if np.array_equal(table, np.rint(table)):
        view.prove(view.outputs[0], float(table.min()), float(table.max()))


@rewrites(FINN, "LabelSelect")
def rewrite_label_select(view: NodeView, emit: Emitter) -> None:
    """Write the numbers of the K largest values of the last axis, as float32; of equal ones the first counts."""
    count = emit.constant([view.attribute("K", 1)], "count", np.int64)
    labels = emit.fresh(view.outputs[0])
    emit.add_several("TopK", [view.inputs[0], count], [emit.fresh(view.outputs[0]), labels])
    number = emit.add("Cast", [labels], to=1)
    emit.reshaped(number, view.shape(view.outputs[0]), view.outputs[0])
    view.prove(view.outputs[0], 0, view.shape(view.inputs[0])[-1] - 1)
