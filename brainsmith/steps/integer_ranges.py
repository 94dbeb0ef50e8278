"""Tell how many bits sums and products of integers have, before kernels are inferred that depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.program.lower import proved_ranges
from brainsmith.execution.runnable import runnable_copy
from brainsmith.rtl.cores.integers import integer_datatype
from brainsmith.transforms.graph_view import is_standard

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def annotate_integer_ranges(model: ModelWrapper) -> ModelWrapper:
    """Annotate, in place, each Add and MatMul of integers with the smallest datatype that holds every result.

    QONNX's InferDataTypes calls them all INT32. A residual sum of two activations has one bit more than they have,
    and a kernel after it (LayerNorm) needs to know. The ranges are those that array programs are proved with.
    """
    outputs = [node.output[0] for node in model.graph.node if is_standard(node, "Add", "MatMul")]
    ranges = proved_ranges(runnable_copy(model)) if outputs else {}
    for name in outputs:
        if name in ranges:
            model.set_tensor_datatype(name, integer_datatype(*ranges[name].ends))
    return model
