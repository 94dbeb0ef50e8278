"""Networks as exporters write them, from QONNX to layers that all have RTL; two of them to packaged circuits."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from tests.steps.conftest import QONNX, Graph, integers, op_types

FRONT = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold", "estimate")
CIRCUIT = ("rtl_codegen", "rtl_stitch", "rtl_size_fifos", "rtl_simulate", "rtl_package")


class Network(Graph):
    """A graph with the layers of image networks. No value lies between two levels: the scales are odd enough."""

    def positive(self, bits, scale):
        settings = {"signed": 0, "narrow": 0, "rounding_mode": "ROUND"}
        return self.node("Relu").node("Quant", odd(scale), 0.0, float(bits), domain=QONNX, **settings)

    def levels(self, bits, scale):
        return self.quant(bits, odd(scale))

    def convolution(self, seed, before, after, size=3, **attributes):
        weights = self.weights(integers(seed, after, before, size, size))
        return self.node("Conv", weights, kernel_shape=[size, size], pads=[size // 2] * 4, **attributes)

    def product(self, seed, before, after):
        return self.node("MatMul", self.weights(integers(seed, before, after)))

    def whole(self, values, kind=np.int64):
        name = self.constant(0)
        self.constants[-1] = numpy_helper.from_array(np.asarray(values, kind), name)
        return name

    def flat(self):
        return self.node("Reshape", self.whole([1, -1]))

    def largest(self):
        """Append an arg-max."""
        node = helper.make_node(
            "TopK", [self.tail, self.whole([1])], ["value", "class"], name="topk", axis=-1
        )
        self.nodes.append(node)
        self.tail = "class"
        return self

    def of_integers(self, *shape):
        """Return the model, whose output is an index."""
        model = self.model(*shape)
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
        return model


def odd(scale):
    return float(np.float32(scale * 1.0137 ** (scale + 0.31)))


def max_pool_and_arg_max():
    graph = Network(1, 2, 8, 8).levels(4, 0.5).convolution(1, 2, 4).positive(4, 4.0)
    graph.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).convolution(2, 4, 4).positive(3, 32.0)
    return graph.flat().product(3, 64, 10).largest().of_integers(1, 1)


def max_pool_before_the_activation():
    graph = Network(1, 2, 8, 8).levels(4, 0.5).convolution(1, 2, 4).node("Add", integers(5, 1, 4, 1, 1) + 0.3)
    graph.node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4).positive(4, 4.0)
    return graph.flat().product(3, 64, 10).model(1, 10)


def residual(bits=4):
    graph = Network(1, 2, 6, 6).levels(4, 0.5).convolution(1, 2, 4).positive(4, 2.0)
    fork = graph.tail
    graph.convolution(2, 4, 4).positive(4, 2.0).convolution(3, 4, 4, size=1).levels(bits, 2.0)
    graph.node("Add", fork).positive(4, 4.0)
    return graph.flat().product(4, 144, 4).model(1, 4)


def projection():
    graph = Network(1, 2, 6, 6).levels(4, 0.5).convolution(1, 2, 4).positive(4, 2.0)
    fork = graph.tail
    long = graph.convolution(2, 4, 4).levels(5, 2.0).tail
    graph.tail = fork
    graph.convolution(3, 4, 4, size=1).levels(5, 2.0).node("Add", long).positive(4, 4.0)
    return graph.flat().product(4, 144, 4).model(1, 4)


def pixels_to_mean(pool, **attributes):
    graph = Network(1, 2, 8, 8).levels(4, 0.5).convolution(1, 2, 4).positive(4, 2.0).node(pool, **attributes)
    graph.levels(6, 0.25)  # with a sign, behind values without one
    return (graph.flat() if pool == "GlobalAveragePool" else graph).product(3, 4, 4).model(1, 4)


def concatenation():
    graph = Network(1, 2, 6, 6).levels(4, 0.5)
    fork = graph.tail
    one = graph.convolution(1, 2, 4).positive(4, 2.0).tail
    graph.tail = fork
    graph.convolution(2, 2, 6).positive(4, 2.0).node("Concat", one, axis=1).convolution(3, 10, 4, size=1)
    return graph.positive(4, 4.0).flat().product(4, 144, 4).model(1, 4)


def split():
    graph = Network(1, 8).levels(4, 0.5).product(1, 8, 12).levels(4, 2.0)
    node = helper.make_node("Split", [graph.tail, graph.whole([4, 8])], ["a", "b"], name="split", axis=1)
    graph.nodes.append(node)
    graph.tail = "a"
    one = graph.product(2, 4, 4).levels(4, 4.0).tail
    graph.tail = "b"
    graph.product(3, 8, 4).levels(4, 4.0).node("Add", one).levels(4, 4.0)
    return graph.product(4, 4, 3).model(1, 3)


def upsampled(channels=4):
    graph = Network(1, 2, 4, 4).levels(4, 0.5).convolution(1, 2, channels).positive(4, 2.0)
    enlarged(graph)
    return graph.convolution(2, channels, 2).positive(4, 8.0).model(1, 2, 8, 8)


def enlarged(graph):
    scales = graph.whole([1, 1, 2, 2], np.float32)
    node = helper.make_node(
        "Resize", [graph.tail, "", scales], ["large"], name="resize", mode="nearest",
        coordinate_transformation_mode="asymmetric", nearest_mode="floor",
    )  # fmt: skip
    graph.nodes.append(node)
    graph.tail = "large"
    return graph


def looked_up():
    graph = Network(1, 4)
    tokens = graph.tail
    graph.tail = graph.constant(integers(1, 16, 8))
    table = graph.quant(4).tail
    graph.nodes.append(helper.make_node("Gather", [table, tokens], ["embedded"], name="gather", axis=0))
    graph.tail = "embedded"
    model = graph.product(2, 8, 6).levels(4, 8.0).product(3, 6, 4).model(1, 4, 4, datatype="UINT4")
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return model


NETWORKS = {
    "max-pool and arg-max": (max_pool_and_arg_max, {"Pool_rtl", "LabelSelect_rtl"}),
    "max-pool before the activation": (max_pool_before_the_activation, {"Pool_rtl"}),
    "a branch with a sign and one without": (residual, {"DuplicateStreams_rtl", "ElementwiseAddInt_rtl"}),
    "a projection": (projection, {"DuplicateStreams_rtl", "ElementwiseAddInt_rtl"}),
    "a global pool": (lambda: pixels_to_mean("GlobalAveragePool"), {"GlobalAccPool_rtl"}),
    "a mean": (lambda: pixels_to_mean("ReduceMean", axes=[2, 3], keepdims=0), {"GlobalAccPool_rtl"}),
    "a concatenation": (concatenation, {"DuplicateStreams_rtl", "StreamingConcat_rtl"}),
    "a split": (split, {"StreamingSplit_rtl", "ElementwiseAddInt_rtl"}),
    "an enlarged image": (upsampled, {"UpsampleNearestNeighbour_rtl"}),
    "a table": (looked_up, {"Lookup_rtl"}),
}


def frames(model, count=8):
    shape = model.get_tensor_shape(model.graph.input[0].name)
    signed = model.get_tensor_datatype(model.graph.input[0].name).signed()
    return np.random.default_rng(0).integers(-8 if signed else 0, 8, (count, *shape)).astype(np.float32)


def results(model, stack):
    executor = Executor(model)
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]]


def build(model, config, names):
    for name in names:
        model = steps[name](model, config)
    return model


SMALL = ("a table",)


@pytest.mark.parametrize(
    "name", [name if name in SMALL else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS]
)
def test_all_layers_have_rtl_and_compute_the_same(name, config):
    make, expected = NETWORKS[name]
    config.target_fps = 100_000
    model = steps.cleanup(make(), config)
    stack = frames(model)
    before = results(model, stack)
    model = build(model, config, FRONT[1:])
    kinds = op_types(model)
    assert expected <= set(kinds)
    assert all(kind.endswith("_rtl") for kind in kinds if kind not in ("Transpose", "Mul"))
    assert kinds[0] == "Transpose" or kinds[0].endswith("_rtl")
    np.testing.assert_allclose(results(model, stack), before, rtol=1e-5)
    report = json.loads((Path(config.output_dir) / "report" / "estimates.json").read_text())
    assert report["interval_cycles"] <= 2000


def images_to_classes():
    graph = Network(1, 2, 8, 8).levels(4, 0.5).convolution(1, 2, 4).positive(4, 2.0)
    graph.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    fork = graph.tail
    long = graph.convolution(2, 4, 4).positive(4, 8.0).convolution(3, 4, 4, size=1).levels(4, 2.0).tail
    graph.tail = long
    enlarged(graph.node("Add", fork).positive(4, 4.0)).convolution(5, 4, 4, size=1).positive(4, 4.0)
    return graph.node("GlobalAveragePool").flat().product(12, 4, 5).largest().of_integers(1, 1)


def tokens_to_sums():
    graph = Network(1, 4)
    tokens = graph.tail
    graph.tail = graph.constant(integers(1, 16, 8))
    table = graph.quant(4).tail
    graph.nodes.append(helper.make_node("Gather", [table, tokens], ["embedded"], name="gather", axis=0))
    graph.tail = "embedded"
    graph.product(2, 8, 12).levels(4, 8.0)
    node = helper.make_node("Split", [graph.tail, graph.whole([4, 8])], ["a", "b"], name="split", axis=2)
    graph.nodes.append(node)
    graph.tail = "a"
    one = graph.product(3, 4, 4).levels(4, 4.0).tail
    graph.tail = "b"
    graph.product(4, 8, 6).levels(4, 4.0).node("Concat", one, axis=2)
    model = graph.product(5, 10, 3).model(1, 4, 3, datatype="UINT4")
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "expected", "fork"),
    [
        (
            images_to_classes,
            {
                "Pool_rtl", "DuplicateStreams_rtl", "ElementwiseAddInt_rtl", "UpsampleNearestNeighbour_rtl",
                "GlobalAccPool_rtl", "LabelSelect_rtl",
            },
            True,
        ),
        (tokens_to_sums, {"Lookup_rtl", "StreamingSplit_rtl", "StreamingConcat_rtl"}, False),
    ],
)  # fmt: skip
def test_networks_become_packages_bit_for_bit(make, expected, fork, config):
    config.target_fps = 400_000
    model = steps.cleanup(make(), config)
    file = Path(config.output_dir) / "frames.npy"
    np.save(file, frames(model, 12)[:, 0])
    config.verify_input_npy = file
    model = build(model, config, (*FRONT[1:], *CIRCUIT))
    assert expected <= set(op_types(model))
    report = Path(config.output_dir) / "report"
    fifos = json.loads((report / "rtl_fifos.json").read_text())
    depths = {one["name"]: one["depth"] for one in fifos["fifos"]}
    if fork:  # the short branch waits for the long one
        assert max(depth for name, depth in depths.items() if name.startswith("DuplicateStreams")) > 8
    assert fifos["interval"] <= fifos["interval_estimate"] * 1.01
    assert (Path(config.output_dir) / "accelerator" / "manifest.json").is_file()
