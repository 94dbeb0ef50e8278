"""A thin ResNet with real scales: convolutions, BatchNormalization, residual sums, a mean of all pixels."""

import numpy as np
import pytest
from qonnx.core.datatype import DataType

from brainsmith.build.golden import GoldenData
from brainsmith.build.verifier import Verifier
from brainsmith.comparison.float_ties.layer_levels import LayerLevels
from brainsmith.errors import VerificationError
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.comparison.float_ties.tie_networks import wrapped
from tests.hunt.writer import CUSTOM, Tensor, Writer

SIDE, WIDTH = 12, 4


class Net:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.writer = Writer()

    def quant(self, name, shape, scale, bits, signed):
        names = [name, *(self.writer.constant(value) for value in (scale, 0.0, float(bits)))]
        return self.writer.node("Quant", names, shape, CUSTOM, signed=signed, narrow=0, rounding_mode="ROUND")

    def conv(self, tensor, stride=1):
        rng, shape = self.rng, (WIDTH, tensor.channels, 3, 3)
        scale = np.exp(rng.normal(-3, 0.3, (WIDTH, 1, 1, 1)))
        weights = self.quant(self.writer.constant(rng.normal(size=shape) * scale * 3), shape, scale, 4, 1)
        side = tensor.shape[2] // stride
        window = {"kernel_shape": [3, 3], "strides": [stride] * 2, "pads": [1] * 4}
        found = self.writer.node("Conv", [tensor.name, weights.name], (1, WIDTH, side, side), **window)
        gamma = np.exp(rng.normal(0, 0.3, WIDTH)) * rng.choice([-1, 1, 1], WIDTH)
        others = rng.normal(0, 0.3, WIDTH), rng.normal(0, 0.5, WIDTH), np.exp(rng.normal(1.5, 0.3, WIDTH))
        names = [self.writer.constant(value) for value in (gamma, *others)]
        return self.writer.node("BatchNormalization", [found.name, *names], found.shape, epsilon=1e-5)

    def relu(self, tensor, scale):
        found = self.writer.node("Relu", [tensor.name], tensor.shape)
        return self.quant(found.name, found.shape, scale, 4, 0)

    def model(self):
        tensor = self.relu(self.conv(Tensor("x", (1, 3, SIDE, SIDE))), 30.0)
        for stride in (1, 2):
            scale = float(np.exp(self.rng.normal(-1, 0.3)))
            inner = self.conv(self.relu(self.conv(tensor, stride), 0.4))
            inner = self.quant(inner.name, inner.shape, scale, 5, 1)
            outer = tensor if stride == 1 else self.conv(tensor, stride)
            outer = self.quant(outer.name, outer.shape, scale, 5, 1)
            tensor = self.relu(self.writer.node("Add", [inner.name, outer.name], inner.shape), scale * 1.3)
        mean = self.writer.node("GlobalAveragePool", [tensor.name], (1, WIDTH, 1, 1))
        row = self.writer.node("Flatten", [self.quant(mean.name, mean.shape, 0.11, 8, 0).name], (1, WIDTH))
        weights = self.quant(
            self.writer.constant(self.rng.normal(size=(WIDTH, 5)) * 0.05), (WIDTH, 5), 0.013, 4, 1
        )
        found = self.writer.node("MatMul", [row.name, weights.name], (1, 5))
        result = self.writer.node("Add", [found.name, self.writer.constant(self.rng.normal(size=5))], (1, 5))
        return wrapped(self.writer, [result], (1, 3, SIDE, SIDE), "UINT8")


def images(count):
    return np.random.default_rng(7).integers(0, 256, (count, 1, 3, SIDE, SIDE)).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_nothing_but_float_ties_differs_and_a_defect_is_found(seed):
    model = Net(seed).model()
    made = model.transform(IntegerLayers())
    varying = [
        node
        for node in model.graph.node
        if node.op_type == "Quant"
        and node.input[0] not in {tensor.name for tensor in model.graph.initializer}
    ]
    assert LayerLevels(made).names == {node.output[0] for node in varying}
    verification = Verifier(model, GoldenData(images(24)), {})
    assert verification.check("integer", made, lambda: None).mismatches == 0
    assert verification.check("later", made, lambda: None).reference == "integer"
    node = made.get_nodes_by_op_type("MultiThreshold")[1]
    thresholds = made.get_initializer(node.input[1]).copy()
    thresholds[:, 2] += 1
    made.set_initializer(node.input[1], np.sort(thresholds, axis=1))
    made.set_tensor_datatype(node.input[1], DataType["INT32"])
    with pytest.raises(VerificationError, match="changed what the model computes"):
        Verifier(model, GoldenData(images(24)), {}).check("integer", made, lambda: None)
