"""What a report says of integers is so: each tensor's scale, zero point and range, and what the host does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.execution.program.lower import _Lowering
from brainsmith.execution.read_model import read_model
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.hunt.inputs import unseen_inputs
from tests.hunt.networks import random_network
from tests.steps.conftest import QONNX, Graph


def read(model):
    """Return a network, its layers, and what was found."""
    clean = steps.cleanup(model, None)
    transform = IntegerLayers()
    return (
        clean.transform(InferShapes()),
        clean.transform(transform).transform(InferShapes()),
        transform.findings,
    )


def values_of(record, numbers):
    """Return the network's values of a tensor's integers, in the network's layout."""
    numbers = np.moveaxis(numbers, -1, 1) if numbers.ndim == 4 else numbers
    ones = (1,) * (numbers.ndim - 2)
    scale, offset = (np.asarray(record[name]).reshape(-1, *ones) for name in ("scale", "offset"))
    return np.asarray(scale * numbers + offset, np.float32)


@pytest.mark.builds
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 20))
def test_scale_offset_and_range_of_each_tensor_give_the_networks_own_values(seed):
    random = random_network(seed)
    try:
        network, made, found = read(read_model(random.file()))
    except ModelError:
        return
    (name,) = (value.name for value in made.graph.input)
    for sample in unseen_inputs(random.shape, random.datatype, seed)[:4]:
        if sample.shape != tuple(made.get_tensor_shape(name)):
            return  # a batch that was made 1
        was = execute_onnx(network, {name: sample}, return_full_exec_context=True)
        now = execute_onnx(made, {name: sample}, return_full_exec_context=True)
        for record in found.tensors:
            numbers = now[record["tensor"]]
            assert record["low"] <= numbers.min() and numbers.max() <= record["high"], record
            assert list(numbers.shape) == record["shape"]
            for tensor in record["network"] if random.exact else ():
                values = values_of(record, numbers)
                if values.shape != was[tensor].shape or "Reshape" in record["operator"]:
                    continue  # rows that were images lie in another order
                np.testing.assert_array_equal(values, was[tensor], err_msg=str(record))


def proved(made):
    """Return between which integers tensors lie by the analysis of models, which is told of inputs and weights alone."""
    model = runnable_copy(made)
    known = {value.name for value in (*model.graph.input, *model.graph.initializer)}
    kept = [each for each in model.graph.quantization_annotation if each.tensor_name in known]
    del model.graph.quantization_annotation[:]
    model.graph.quantization_annotation.extend(kept)
    lowering = _Lowering(model)
    lowering.program()
    return {name: found.ends for name, found in lowering.facts.ranges.items()}


@pytest.mark.builds
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 20))
def test_the_analysis_of_models_proves_the_same_ranges_of_the_layers_that_were_made(seed):
    """It knows one range for all channels, so it may be wider; it is never narrower."""
    try:
        _, made, found = read(read_model(random_network(seed).file()))
    except ModelError:
        return
    spans = proved(made)
    for record in found.tensors:
        span = spans.get(record["tensor"])
        if span is not None:
            assert span[0] <= record["low"] and record["high"] <= span[1], (record, span)
            datatype = made.get_tensor_datatype(record["tensor"])
            assert datatype.min() <= record["low"] and record["high"] <= datatype.max()


def test_a_plain_network_has_the_same_ranges_in_both_analyses():
    graph = Graph(1, 3)
    graph.node("MatMul", graph.weights(np.asarray([[3.0, -2.0], [1.0, 1.0], [0.0, -3.0]]), bits=3, scale=0.5))
    graph.node("Relu").quant(3, 0.5)
    graph.node("MatMul", graph.weights(np.asarray([[1.0, 2.0, -3.0], [2.0, -1.0, 1.0]]), bits=3))
    _, made, found = read(graph.model(1, 3, datatype="INT4"))
    spans = proved(made)
    ranges = {record["tensor"]: (record["low"], record["high"]) for record in found.tensors}
    assert {name: spans[name] for name in ranges} == ranges


def test_a_record_says_what_a_tensor_is_made_of():
    graph = Graph(1, 2)
    graph.node("Div", 255.0)
    graph.node("Quant", 0.25, 1.0, 3.0, domain=QONNX, signed=0, narrow=0, rounding_mode="FLOOR")
    graph.node("MatMul", graph.weights(np.asarray([[1.0, 3.0], [-2.0, 2.0]]), bits=3, scale=0.5))
    graph.node("Add", [[0.5, 1.0]])
    _, _, found = read(graph.model(1, 2, datatype="UINT8"))
    levels, sums = found.tensors
    assert levels == {
        "tensor": "quant1", "operator": "MultiThreshold", "origin": "Quant 'quant1'", "network": [levels["network"][0]],
        "shape": [1, 2], "datatype": "UINT3", "low": 0, "high": 4, "scale": [0.25], "offset": [0.0], "zero_point": 0,
        "pending": [],
    }  # fmt: skip
    assert sums["origin"] == "MatMul 'matmul3'"
    assert (sums["scale"], sums["offset"], sums["zero_point"]) == ([0.125], [0.0], 0)
    assert (sums["low"], sums["high"], sums["datatype"], sums["pending"]) == (-8, 20, "INT6", ["Add"])
    assert found.inputs == [{"name": "in", "datatype": "UINT8", "low": 0, "high": 255}]
    assert found.quantisers == []
    (output,) = found.outputs
    assert (output["tensor"], output["operators"]) == (sums["tensor"], ["Add"])


def test_a_quantiser_of_the_host_is_recorded_with_its_input():
    graph = Graph(1, 2)
    graph.node("Mul", 2.0)
    graph.node("Quant", 0.25, 1.0, 3.0, domain=QONNX, signed=0, narrow=0, rounding_mode="CEIL")
    _, _, found = read(graph.model(1, 2, datatype="FLOAT32"))
    (record,) = found.quantisers
    assert record == {
        "origin": "Quant 'quant1'", "inputs": ["in"], "tensor": record["tensor"], "scale": [0.25],
        "offset": [-0.25], "zero_point": 1, "low": 0, "high": 7, "rounding_mode": "CEIL", "operators": ["Mul"],
    }  # fmt: skip
    assert found.inputs == [{"name": "in", "datatype": "FLOAT32", "low": None, "high": None}]
