"""Networks whose products FINN's units cannot be, from QONNX to circuits: dense ones of unusual weights, depthwise ones."""

import json

import numpy as np
import pytest

from brainsmith.build import build
from brainsmith.plugins import steps
from tests.steps.conftest import config as config
from tests.transforms.quantised_nets import Net

BLUEPRINT = """\
hw_compiler:
  target: {{part: {part}, clock: 200 MHz, fps: {fps}}}
  steps:
    - cleanup
    {front}
    - hardware_inference
    - specialize
    - fold
    - estimate
    - rtl_codegen
    - rtl_stitch
    - {{step: rtl_size_fifos, args: {{search: false}}}}
    - {{step: rtl_simulate, args: {{seeds: 1, frames: 3}}}}
  output: simulated
"""
EXACT, FINNS = "- integer", "- qonnx_to_finn\n    - streamline"
ULTRASCALE = "xczu7ev-ffvc1156-2-e"


class Products(Net):
    """A network in the making: products with quantised weights, each behind it a quantiser."""

    def __init__(self, *shape, datatype):
        super().__init__(*shape, datatype=datatype)
        self.random = np.random.default_rng(0)

    def dense(self, results, low, high, bits, **stated):
        """Multiply with weights between two integers."""
        values = self.random.integers(low, high + 1, (self.last_shape()[1], results)) / 16
        return self.node("MatMul", self.weights(values, 1 / 16, bits, **stated), shape=[1, results])

    def convolution(self, channels, kernel, stride=1, depthwise=True, bits=4):
        """Add a convolution, normalisation, ReLU and a quantiser; a depthwise one keeps its channels."""
        before, pad = self.last_shape(), kernel // 2
        groups = before[1] if depthwise else 1
        values = self.random.normal(size=(channels, before[1] // groups, kernel, kernel))
        scale = np.abs(values).max(axis=(1, 2, 3), keepdims=True) / (2 ** (bits - 1) - 1)
        size = [(one + 2 * pad - kernel) // stride + 1 for one in before[2:]]
        window = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        self.node("Conv", self.weights(values, scale, bits, narrow=1), shape=[1, channels, *size], **window)
        drawn = self.random.normal(1, 0.5, channels), *self.random.normal(0, 1, (2, channels))
        self.node("BatchNormalization", *drawn, self.random.uniform(0.5, 3, channels), shape=self.last)
        return self.node("Relu", shape=self.last).quant(1.5, signed=0)


def circuit(network, folder, frames, front, fps, part=ULTRASCALE):
    """Build a network, assert that its circuit computes the same at the estimated rate, and return the layers."""
    network.model().save(str(folder / "network.onnx"))
    (folder / "network.yaml").write_text(BLUEPRINT.format(part=part, fps=fps, front=front))
    result = build(folder / "network.onnx", folder / "network.yaml", folder / "out", verify_inputs=frames)
    assert [step.verified.mismatches for step in result.steps] == [0] * len(result.steps)
    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["frames"], found["mismatches"], found["stalled_mismatches"]) == (3, 0, 0)
    assert found["stalled_frames"] >= 3
    assert found["interval_cycles"] <= found["interval_estimate"]
    return json.loads((result.output / "report/estimates.json").read_text())["layers"]


def drawn(low, high, *shape):
    return np.random.default_rng(5).integers(low, high, (6, *shape)).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "fps", "own"),
    [
        (ULTRASCALE, 1_000_000, 3),
        ("xc7z020clg400-1", 200_000_000, 4),
        ("xcvc1902-vsva2197-2MP-e-S", 200_000_000, 4),  # whole rows at once
    ],
)
def test_a_dense_network_of_unusual_weights_becomes_a_circuit(part, fps, own, tmp_path):
    network = Products(1, 1, datatype="INT12")
    network.dense(6, -2047, 2047, 12).quant(4096, bits=8)  # of one value, weights of 12 bits
    network.dense(8, -1, 1, 2, narrow=1).quant(16, bits=6)  # TERNARY
    network.dense(4, 0, 15, 4, signed=0).quant(64, bits=1, signed=0)  # unsigned
    network.dense(3, -7, 7, 4)  # of bits
    layers = circuit(network, tmp_path, drawn(-2048, 2048, 1), EXACT, fps, part)
    assert sum(one["op_type"] == "EmbeddedMVAU_rtl" for one in layers) == own


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "bits", "terms", "kind"),
    [
        (16, 16, 512, "INT41"),
        (9, 16, 64, "INT31"),
        (16, 10, 96, "INT32"),
        (12, 14, 32, "INT31"),
    ],
)
def test_sums_beyond_24_bits_become_a_circuit_and_float32_differs_by_ties_alone(
    inputs, bits, terms, kind, tmp_path
):
    """Half of the terms cancel the other half but for the last one, so float32's sums are off by many levels."""
    random, end = np.random.default_rng(7), 2 ** (bits - 1)
    half = random.integers(-end, end, (terms // 2 - 1, 2))
    half[0] = 0
    cancelling = np.concatenate([half, np.minimum(-half, end - 1), [[1, -1], [1, 1]]])
    least = np.full((terms, 1), -end)  # a sum with all of its bits
    weights = np.concatenate([cancelling, least], axis=1).astype(np.float64)
    network = Products(1, terms, datatype=f"INT{inputs}")
    held = network.weights(weights / end, 1 / end, bits)
    network.node("MatMul", held, shape=[1, 3]).quant(2.0 / end, bits=8)
    network.dense(4, -7, 7, 4).quant(8.0 / end, bits=6)
    given = random.integers(-(2 ** (inputs - 1)), 2 ** (inputs - 1), (3, terms // 2 - 1))
    last = random.integers(-100, 100, (3, 2))
    frames = np.concatenate([given, given, last], axis=1).astype(np.float32)
    layers = circuit(network, tmp_path, frames, EXACT, 100_000)
    assert [one["op_type"] for one in layers][1::2] == ["Thresholding_rtl"] * 2
    report = json.loads((tmp_path / "out/report.json").read_text())
    ties = {step["name"]: (step["verified"] or {}).get("float_ties") for step in report["steps"]}
    assert ties.pop("integer")["ties"] > 0
    assert not any(ties.values())
    assert layers[0]["attributes"]["outputDataType"] == kind


@pytest.mark.slow
def test_thresholds_beyond_24_bits_are_exact_in_the_circuit(tmp_path, config):
    """Each frame brings a sum next to a threshold that float32 would round."""
    random = np.random.default_rng(11)
    weights = random.integers(-(2**15), 2**15, (64, 2)).astype(np.float64)
    weights[-2:, 0] = 2**14, 1
    network = Products(1, 64, datatype="INT16")
    network.node("MatMul", network.weights(weights, 1.0, 16), shape=[1, 2]).quant(2.0**26 * 1.1, bits=6)
    network.dense(4, -7, 7, 4).quant(2.0**28, bits=6)
    made = steps.integer(steps.cleanup(network.model(), config), config)
    thresholds = next(
        made.get_initializer(n.input[1]) for n in made.graph.node if n.op_type == "MultiThreshold"
    )[0]
    rounded = np.flatnonzero(thresholds.astype(np.float32).astype(np.int64) != thresholds)
    assert len(rounded) > 40
    frames = []
    for at in rounded[5:35:10]:
        values, found = random.integers(-(2**15), 2**15, 64), int(thresholds.astype(np.float32)[at])
        wanted = int(thresholds[at]) - (found < thresholds[at])  # where both thresholds give other levels
        values[-2:] = 0
        while abs(wanted - int(values @ weights[:, 0])) >= 2**28:
            values[:-2] = random.integers(-(2**15), 2**15, 62)
        rest = wanted - int(values @ weights[:, 0])
        values[-2:] = rest >> 14, rest & (2**14 - 1)
        assert int(values @ weights[:, 0]) == wanted
        frames.append(values)
    layers = circuit(network, tmp_path, np.asarray(frames, np.float32), EXACT, 100_000)
    assert layers[1]["op_type"] == "Thresholding_rtl"


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["Mul", "Sub"])
def test_branches_that_are_multiplied_or_subtracted_become_a_circuit(operation, tmp_path):
    network = Products(1, 6, datatype="INT4")
    fork = network.dense(8, -7, 7, 4).quant(0.5).tail
    network.dense(8, -7, 7, 4).quant(0.5, signed=0)
    branch, network.tail = network.tail, fork
    network.node(operation, branch, shape=[1, 8]).quant().dense(4, -7, 7, 4)
    layers = circuit(network, tmp_path, drawn(-8, 8, 6), EXACT, 1_000_000)
    assert f"Elementwise{operation}Int_rtl" in [one["op_type"] for one in layers]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fps", "lanes"),
    [(20_000, [(1, 1, 0), (1, 1, 0)]), (1_500_000, [(4, 3, 1), (6, 1, 0)])],
    ids=["a value a cycle", "several positions of all channels"],
)
def test_a_depthwise_separable_network_becomes_a_circuit(fps, lanes, tmp_path):
    network = Products(1, 4, 6, 6, datatype="UINT4")
    network.convolution(4, 3).convolution(6, 1, depthwise=False)
    network.convolution(6, 3, stride=2).convolution(4, 1, depthwise=False)
    layers = circuit(network, tmp_path, drawn(0, 16, 4, 6, 6), FINNS, fps)
    stated = {kind: [one["attributes"] for one in layers if one["op_type"].startswith(kind)]
              for kind in ("EmbeddedVVAU", "ConvolutionInputGenerator")}  # fmt: skip
    windows = stated["ConvolutionInputGenerator"]
    pairs = zip(stated["EmbeddedVVAU"], windows, strict=True)
    assert [(one["PE"], one["SIMD"], window["parallel_window"]) for one, window in pairs] == lanes
    assert [one["PE"] for one in stated["EmbeddedVVAU"]] == [window["SIMD"] for window in windows]
