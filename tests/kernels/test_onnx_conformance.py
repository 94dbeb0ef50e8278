"""ONNX's own test cases, which come with the onnx package, through the transforms and kernels for them."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.transforms.expand_norms import ExpandNorms
from brainsmith.transforms.infer_layer_norm import InferLayerNorm
from brainsmith.transforms.infer_softmax import InferSoftmax

CASES = Path(onnx.__path__[0]) / "backend" / "test" / "data" / "node"
# The tolerance of ONNX's own backend tests.
TOLERANCE = {"rtol": 1e-3, "atol": 1e-7}


def cases(*patterns):
    folders = [folder for pattern in patterns for folder in sorted(CASES.glob(pattern))]
    return [folder.name for folder in folders if "expanded" not in folder.name]


def load(case):
    """Return a case's model with declared shapes, its inputs and its expected outputs, by tensor name."""
    proto = onnx.shape_inference.infer_shapes(onnx.load(CASES / case / "model.onnx"))
    folder = CASES / case / "test_data_set_0"
    data = [
        {
            value.name: numpy_helper.to_array(onnx.load_tensor(folder / f"{kind}_{place}.pb"))
            for place, value in enumerate(values)
        }
        for kind, values in (("input", proto.graph.input), ("output", proto.graph.output))
    ]
    return ModelWrapper(proto), *data


def check(model, feeds, expected):
    found = execute_onnx(model, feeds)
    for name, value in expected.items():
        assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype)
        np.testing.assert_allclose(found[name], value, **TOLERANCE)


NORMS = cases("test_layer_normalization_*", "test_rms_normalization_*")


@pytest.mark.slow
@pytest.mark.parametrize("case", NORMS)
def test_norms_expand(case):
    model, feeds, expected = load(case)
    expanded, modified = ExpandNorms().apply(model)
    assert modified
    assert not [node for node in expanded.graph.node if node.op_type.endswith("Normalization")]
    check(expanded, feeds, expected)


def last_axis(model):
    node = model.graph.node[0]
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), -1)
    return axis in (-1, len(model.get_tensor_shape(node.input[0])) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("test_layer_normalization_*"))
def test_layer_norms_over_the_last_axis_become_kernels(case):
    model, feeds, expected = load(case)
    served = last_axis(model)
    # These cases read Mean and InvStdDev too, so they are expanded first.
    inferred, modified = InferLayerNorm().apply(model.transform(ExpandNorms()))
    assert modified == served
    assert bool(inferred.get_nodes_by_op_type("LayerNormKernel")) == served
    check(inferred, feeds, expected)


@pytest.mark.parametrize("case", cases("test_softmax_*"))
def test_softmax_over_the_last_axis_becomes_a_kernel(case):
    model, feeds, expected = load(case)
    served = last_axis(model)
    inferred, modified = InferSoftmax().apply(model)
    assert modified == served
    check(inferred, feeds, expected)


def test_there_are_such_cases():
    assert len(NORMS) >= 38
    assert len(cases("test_softmax_*")) >= 7
