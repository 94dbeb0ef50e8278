"""The judge can fail: what is planted in the network that is built, and not in the one that it is held to, is wrong."""

import numpy as np
import pytest
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from tests.hunt import judge
from tests.hunt.inputs import unseen_inputs
from tests.hunt.networks import MODES, Network, random_network
from tests.hunt.writer import CUSTOM, Tensor, Writer

WEIGHTS = np.array([[1, -2, 3], [2, 1, -1], [-1, 1, 2], [1, 3, 1]], np.float32)


def written(weights=WEIGHTS, bias=(0.0, 1.0, -2.0), mode="ROUND"):
    """Return two layers of integers with a quantiser between them, of scale 2: half of all sums are ties."""
    writer = Writer()
    sums = writer.node("MatMul", ["x", writer.constant(weights)], (1, 3))
    moved = writer.node("Add", [sums.name, writer.constant([bias])], (1, 3))
    settings = [writer.constant(value) for value in (2.0, 0.0, 6.0)]
    levels = writer.node(
        "Quant", [moved.name, *settings], (1, 3), CUSTOM, signed=1, narrow=0, rounding_mode=mode
    )
    last = writer.node("MatMul", [levels.name, writer.constant([[1, 4], [2, -1], [3, 1]])], (1, 2))
    return writer.model([Tensor("x", (1, 4))], [last])


def verdict(built, folder, **named):
    return judge.judge(Network(1, written(), "INT3", True, "planted", built), "estimates", folder, **named)


@pytest.mark.slow
def test_the_network_itself_is_right(tmp_path):
    assert verdict(written(), tmp_path).kind == "right"


PLANTED = {
    "thresholds off by one": {"bias": (1.0, 1.0, -2.0)},
    "thresholds of one channel off by one, downwards": {"bias": (0.0, 1.0, -3.0)},
    "swapped channels": {"weights": WEIGHTS[:, [1, 0, 2]]},
    "swapped inputs": {"weights": WEIGHTS[[0, 1, 3, 2]]},
    "one weight": {"weights": WEIGHTS + np.eye(4, 3, dtype=np.float32) * np.array([0, 0, 1], np.float32)},
    **{mode: {"mode": mode} for mode in MODES if mode != "HALF_EVEN"},
}


@pytest.mark.slow
@pytest.mark.parametrize("changed", PLANTED.values(), ids=PLANTED)
def test_a_planted_defect_is_wrong(changed, tmp_path):
    found = verdict(written(**changed), tmp_path)
    assert (found.kind, "samples differ" in found.text) == ("wrong", True)


@pytest.mark.slow
def test_a_defect_of_a_circuit_is_wrong(tmp_path, monkeypatch):
    circuit = judge._circuit

    def off(network, folder, samples):
        found = circuit(network, folder, samples).copy()
        found[3, 0] += 1
        return found

    network = Network(1, written(), "INT3", True, "planted")
    monkeypatch.setattr(judge, "_circuit", off)
    found = judge.judge(network, "simulated", tmp_path)
    assert (found.kind, found.text[:30]) == ("wrong", "1 of 16 samples differ: sample")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_the_reference_is_qonnxs_own_execution(seed):
    network = random_network(seed)
    samples = unseen_inputs(network.shape, network.datatype, seed)[[0, -3, -1]]
    model = network.wrapper().transform(InferShapes())
    for at, sample in enumerate(samples):
        one = execute_onnx(model, {"x": sample})
        for value, found in zip(model.graph.output, judge.reference(network, samples), strict=True):
            np.testing.assert_array_equal(found[at], one[value.name])
