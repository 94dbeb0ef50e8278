"""Which nodes are elementwise, and what they compute as code that can be traced."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.compiling.chain_op import validates_inputs
from brainsmith.autodiff.compiling.numpy_form import compute
from brainsmith.autodiff.compiling.ruled_forward import ruled_forward
from brainsmith.autodiff.graphs.fused_node import ATTRIBUTE, compiled_text
from brainsmith.autodiff.graphs.node_attributes import from_node
from brainsmith.autodiff.graphs.node_lookup import FUSED, OPS_DOMAIN
from brainsmith.autodiff.graphs.onnx_functions import ONNX_FUNCTIONS
from brainsmith.autodiff.graphs.traceable import TraceableFunction, elementwise
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto


def elementwise_function(node: NodeProto, dtypes: Sequence[np.dtype[Any] | None]) -> TraceableFunction | None:
    """Return what a node computes, as a function of its inputs; None if it is not elementwise, or cannot be traced.

    Args:
        node: With one output.
        dtypes: Of its inputs; None for one that is left out.
    """
    function = _function(node)
    if function is None or not any(dtypes):
        return None
    given = [dtype for dtype in dtypes if dtype is not None]

    def whole(*arrays: Any) -> Any:
        rest = iter(arrays)
        return function(*[None if dtype is None else next(rest) for dtype in dtypes])

    found = elementwise(whole, given, node.op_type)
    if found is None:
        return None
    present = [at for at, dtype in enumerate(dtypes) if dtype is not None]
    return TraceableFunction(function, tuple(present[at] for at in found.reads), found.steps)


def _function(node: NodeProto) -> Callable[..., Any] | None:
    if node.domain in ("", "ai.onnx"):
        known = ONNX_FUNCTIONS.get(node.op_type)
        stated = {attribute.name: attribute.f for attribute in node.attribute}
        return partial(known, **stated) if known is not None else None
    if node.domain != OPS_DOMAIN:
        return None
    if node.op_type == FUSED:
        text = next((attribute.s.decode() for attribute in node.attribute if attribute.name == ATTRIBUTE), "")
        return partial(_replay, text)
    return _op_function(node)


def _replay(text: str, *inputs: Any) -> Any:
    return compute(compiled_text(text).expression, inputs)[0]


def _op_function(node: NodeProto) -> Callable[..., Any] | None:
    """Return the forward of the op of a node; None if there is no such op, or it validates its inputs."""
    from brainsmith.autodiff.compiling.compiled_op import CompiledOp
    from brainsmith.autodiff.op_registry import get_custom_op, is_custom_op_registered

    if not is_custom_op_registered(node.op_type):
        return None
    try:
        found = get_custom_op(node.op_type)
        attributes = from_node(found, node)
    except OpError:
        return None
    op = found.op if isinstance(found, CompiledOp) else found
    return None if op.num_outputs != 1 or validates_inputs(op) else ruled_forward(op, attributes)
