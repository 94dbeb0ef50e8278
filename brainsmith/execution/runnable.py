"""A model as it is executed in Python: hardware backends as their kernels, all shapes known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.execution.fixed_batch import fix_batch
from brainsmith.execution.foreign_failures import foreign_call, text_of
from brainsmith.graph.operator_names import FINN, known_as

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

_BACKEND_DOMAINS = ("finn.custom_op.fpgadataflow.hls", "finn.custom_op.fpgadataflow.rtl")
_WINDOW_RTL = "ConvolutionInputGenerator_rtl"


def runnable_copy(model: ModelWrapper) -> ModelWrapper:
    """Copy a model, with every hardware backend's node replaced by its kernel's, and all shapes known.

    A batch that the model leaves open is 1.

    Raises:
        BuildError: Its shapes cannot be inferred, or an input's is open after the batch.
    """
    with foreign_call(lambda error: BuildError(f"its shapes cannot be inferred: {text_of(error)}")):
        return _copy(model)


def _copy(model: ModelWrapper) -> ModelWrapper:
    from qonnx.core.modelwrapper import ModelWrapper

    copy = ModelWrapper(model.model, make_deepcopy=True)
    was_open = fix_batch(copy)
    if any(node.domain.startswith("finn.") for node in copy.graph.node):
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
    kept = [_gives_stream_order(copy, node) for node in copy.graph.node]
    for node, stays in zip(copy.graph.node, kept, strict=True):
        if node.domain in _BACKEND_DOMAINS:
            _use_python_model(node, stays)
    if was_open or not copy.check_all_tensor_shapes_specified():
        from qonnx.transformation.infer_shapes import InferShapes

        from brainsmith.plugin.adapters.framework_mends import mend_frameworks

        mend_frameworks()  # QONNX tidies up after each transform, and would take constants that are outputs
        copy = copy.transform(InferShapes())
    return copy


def _gives_stream_order(model: ModelWrapper, node: Any) -> bool:
    """Tell whether a node is one end of windows that go from RTL to RTL channel by channel.

    FINN's depthwise sliding window says in Python in which order its RTL gives windows; RTL that pools takes them so,
    while what the kernels compute is position by position.
    """
    if node.op_type == _WINDOW_RTL:
        depthwise = any(attribute.name == "depthwise" and attribute.i for attribute in node.attribute)
        return depthwise and all(
            taker.op_type != "Pool_hls" for taker in model.find_consumers(node.output[0])
        )
    if node.domain.endswith(".rtl") and known_as(node.domain, node.op_type) == (FINN, "Pool"):
        giver = model.find_producer(node.input[0])
        return (
            giver is None
            or not giver.op_type.startswith("ConvolutionInputGenerator")
            or giver.op_type == _WINDOW_RTL
        )
    return False


def _use_python_model(node: Any, stays: bool) -> None:
    """Make a backend's node its kernel's, or if it stays, let it execute in Python."""
    from onnx import helper
    from qonnx.custom_op.registry import is_custom_op

    base = node.op_type.rpartition("_")[0]
    domain = "finn.custom_op.fpgadataflow"
    if not stays and is_custom_op(domain, base):
        node.op_type, node.domain = base, domain
        return
    for attribute in [a for a in node.attribute if a.name == "exec_mode"]:
        node.attribute.remove(attribute)
    node.attribute.append(helper.make_attribute("exec_mode", "cppsim"))
