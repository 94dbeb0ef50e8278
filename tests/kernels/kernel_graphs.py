"""Models of one ONNX operator, and what holds for every kernel that takes its place."""

import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes


def make_model(nodes, inputs, outputs=("y",), constants=None, opset=17, datatypes=None):
    """Make a model; inputs are {name: shape}, constants {name: array}, datatypes {tensor: name}."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    proto.ir_version = 10
    for name, value in (constants or {}).items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    inferred = onnx.shape_inference.infer_shapes(proto, strict_mode=True)
    values = {value.name: value for value in inferred.graph.value_info}
    proto.graph.value_info.extend(value for name, value in values.items() if name not in outputs)
    del proto.graph.output[:]
    proto.graph.output.extend(values[name] for name in outputs)
    model = ModelWrapper(proto)
    for name, datatype in (datatypes or {}).items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model


def run_onnx(model, feeds):
    """Run a model of standard operators in ONNX Runtime."""
    session = onnxruntime.InferenceSession(
        model.model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return dict(zip([value.name for value in model.graph.output], session.run(None, feeds), strict=True))


def infer(transformation, model):
    """Apply an inference transform and check what holds for all: once equals twice, and all is declared."""
    after, modified = transformation.apply(ModelWrapper(model.model, make_deepcopy=True))
    once = after.model.SerializeToString()
    assert modified == (once != model.model.SerializeToString())
    again, modified_again = transformation.apply(after)
    assert (modified_again, again.model.SerializeToString()) == (False, once)
    assert after.check_all_tensor_shapes_specified()
    return after, modified


def check_kernel(model, feeds, expected, rtol, atol):
    """Check a kernel's numbers, and its shapes and datatypes against those inferred anew."""
    for name, value in expected.items():
        found = execute_onnx(model, feeds)[name]
        assert (found.dtype, found.shape) == (np.float32, value.shape)
        np.testing.assert_allclose(found, value, rtol=rtol, atol=atol)
    bare = ModelWrapper(model.model, make_deepcopy=True)
    del bare.graph.value_info[:]
    inferred = bare.transform(InferShapes()).transform(InferDataTypes())
    for node in model.graph.node:
        for name in node.output:
            assert inferred.get_tensor_shape(name) == model.get_tensor_shape(name)
            assert inferred.get_tensor_datatype(name) == model.get_tensor_datatype(name)


def instance(model, op_type):
    """Return the kernel object of the one node of a type."""
    (node,) = model.get_nodes_by_op_type(op_type)
    return getCustomOp(node)


FRESH = """
import sys
import numpy as np
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
model = ModelWrapper(sys.argv[1])
feeds = dict(np.load(sys.argv[2]))
np.savez(sys.argv[3], **execute_onnx(model, feeds))

"""


def run_in_fresh_process(model, feeds, folder):
    """Save a model, load and execute it in a process that imports only QONNX, and return its outputs."""
    model.save(str(folder / "model.onnx"))
    np.savez(folder / "feeds.npz", **feeds)
    paths = [str(folder / name) for name in ("model.onnx", "feeds.npz", "outputs.npz")]
    done = subprocess.run([sys.executable, "-c", FRESH, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(np.load(folder / "outputs.npz"))
