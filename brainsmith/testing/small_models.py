"""Small ONNX models for the tests of transforms, and what is asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

IR_VERSION = 10
"""What ONNX Runtime here reads."""


def make_model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Sequence[int]],
    outputs: Sequence[str],
    constants: Mapping[str, Any] | None = None,
    opset: int = 17,
    elem_type: int = TensorProto.FLOAT,
) -> ModelWrapper:
    """Make a model of standard operators; all of its tensors get the shapes that ONNX infers.

    Args:
        nodes: In the order of execution.
        inputs: Shapes by name.
        outputs: Names.
        constants: Arrays by name.
        opset: Of ONNX's own operators.
        elem_type: Of the inputs.
    """
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, elem_type, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    proto.ir_version = IR_VERSION
    for name, value in (constants or {}).items():
        proto.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    values = {value.name: value for value in infer_values(proto)}
    proto.graph.value_info.extend(value for name, value in values.items() if name not in outputs)
    del proto.graph.output[:]
    proto.graph.output.extend(values[name] for name in outputs)
    return ModelWrapper(proto)


def infer_values(proto: ModelProto) -> Iterable[ValueInfoProto]:
    """Return what ONNX's own shape inference says of all tensors but the inputs, from scratch."""
    bare = onnx.ModelProto()
    bare.CopyFrom(proto)
    del bare.graph.value_info[:]
    for value in bare.graph.output:
        value.ClearField("type")
    found: Iterable[ValueInfoProto] = onnx.shape_inference.infer_shapes(
        bare, strict_mode=True
    ).graph.value_info
    return found


def run(model: ModelWrapper, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Run a model of standard operators in ONNX Runtime, without its own rewriting."""
    results = _session(model).run(None, feeds)
    return dict(zip([value.name for value in model.graph.output], results, strict=True))


def why_refused(model: ModelWrapper) -> str:
    """Return why ONNX Runtime does not take a model, in one line; empty where it does."""
    try:
        _session(model)
    except Exception as error:  # noqa: BLE001  (its exceptions have no common base; the caller reports the text)
        return str(error).partition("\n")[0]
    return ""


def _session(model: ModelWrapper) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def op_types(model: ModelWrapper) -> list[str]:
    """Return the operators of a model in graph order."""
    return [node.op_type for node in model.graph.node]


def names_read(graph: GraphProto) -> set[str]:
    """Return the tensors that nodes, nested graphs and graph outputs read."""
    nested = [attr.g for node in graph.node for attr in node.attribute if attr.HasField("g")]
    names = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
    return names.union(*(names_read(inner) for inner in nested))


def dangling(model: ModelWrapper) -> list[str]:
    """Return initializers, Constant nodes and annotations that nothing reads."""
    read = names_read(model.graph)
    made = {name for node in model.graph.node for name in node.output}
    known = read | made | {value.name for value in model.graph.input}
    constants = [
        node.name for node in model.graph.node if node.op_type == "Constant" and node.output[0] not in read
    ]
    notes = [note.tensor_name for note in model.graph.quantization_annotation]
    values = [value.name for value in model.graph.value_info]
    return [
        *(tensor.name for tensor in model.graph.initializer if tensor.name not in read),
        *constants,
        *(name for name in (*notes, *values) if name not in known),
    ]
