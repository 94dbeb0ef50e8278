"""Small ONNX models for the tests of transforms, and the checks that every transform has to pass."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from qonnx.analysis.topology import nodes_topologically_sorted
from qonnx.core.modelwrapper import ModelWrapper

FLOAT = TensorProto.FLOAT


def make_model(nodes, inputs, outputs, constants=None, opset=17, elem_type=FLOAT):
    """Make a model; inputs are {name: shape}, outputs names, constants {name: array}."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, elem_type, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    proto.ir_version = 10
    for name, value in (constants or {}).items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    values = {value.name: value for value in infer_values(proto)}
    proto.graph.value_info.extend(value for name, value in values.items() if name not in outputs)
    del proto.graph.output[:]
    proto.graph.output.extend(values[name] for name in outputs)
    return ModelWrapper(proto)


def infer_values(proto):
    """Return what ONNX's own shape inference says of all tensors but the inputs, from scratch."""
    bare = onnx.ModelProto()
    bare.CopyFrom(proto)
    del bare.graph.value_info[:]
    for value in bare.graph.output:
        value.ClearField("type")
    return onnx.shape_inference.infer_shapes(bare, strict_mode=True).graph.value_info


def run(model, feeds):
    """Run a model of standard operators in ONNX Runtime, without its own rewriting."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip([value.name for value in model.graph.output], session.run(None, feeds), strict=True))


def ops(model):
    """Return the operators of a model in graph order."""
    return [node.op_type for node in model.graph.node]


def names_read(graph):
    """Return the tensors that nodes, nested graphs and graph outputs read."""
    nested = [attr.g for node in graph.node for attr in node.attribute if attr.HasField("g")]
    names = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
    return names.union(*(names_read(inner) for inner in nested))


def dangling(model):
    """Return initializers, Constant nodes and annotations that nothing reads."""
    read = names_read(model.graph)
    made = {name for node in model.graph.node for name in node.output}
    inputs = {value.name for value in model.graph.input}
    known = read | made | inputs
    return (
        [tensor.name for tensor in model.graph.initializer if tensor.name not in read]
        + [
            node.name
            for node in model.graph.node
            if node.op_type == "Constant" and node.output[0] not in read
        ]
        + [note.tensor_name for note in model.graph.quantization_annotation if note.tensor_name not in known]
        + [value.name for value in model.graph.value_info if value.name not in known]
    )


def types(values):
    """Return {tensor: (element type, shape)}."""
    return {v.name: (v.type.tensor_type.elem_type, str(v.type.tensor_type.shape)) for v in values}


def apply(transformation, model):
    """Apply a transform once and check what holds for all: once equals twice, order, no leftovers, shapes.

    Returns the new model and the flag; the given model stays as it is.
    """
    before = ModelWrapper(model.model, make_deepcopy=True)
    after, modified = transformation.apply(ModelWrapper(model.model, make_deepcopy=True))
    assert modified == (after.model.SerializeToString() != before.model.SerializeToString())
    once = after.model.SerializeToString()
    again, modified_again = transformation.apply(after)
    assert (modified_again, again.model.SerializeToString()) == (False, once)
    onnx.checker.check_model(after.model, full_check=True)
    assert after.analysis(nodes_topologically_sorted)["nodes_topologically_sorted"]
    if modified:
        assert dangling(after) == dangling(before)
        declared = types([*after.graph.value_info, *after.graph.output])
        inferred = types(infer_values(after.model))
        assert {name: declared.get(name) for name in inferred} == inferred
        assert after.check_all_tensor_shapes_specified()
    return after, modified


def check_same_function(transformation, model, feeds, rtol=0.0, atol=0.0):
    """Apply a transform and compare all outputs on the feeds; returns the new model and the flag."""
    after, modified = apply(transformation, model)
    expected, found = run(model, feeds), run(after, feeds)
    assert list(expected) == list(found)
    for name, value in expected.items():
        assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype)
        np.testing.assert_allclose(found[name], value, rtol=rtol, atol=atol, err_msg=name)
    return after, modified


__all__ = ["apply", "check_same_function", "dangling", "make_model", "ops", "run"]
