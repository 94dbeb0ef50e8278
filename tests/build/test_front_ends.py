"""The shipped networks come out of `integer` as the hardware layers that FINN's way gives, constants and datatypes too."""

from pathlib import Path

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build import build
from tests.build.binary_graphs import tfc
from tests.build.test_binary_networks import TFC_BLUEPRINT, pixels

ROOT = Path(__file__).parents[2]
FINN = ["cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold"]
OURS = ["cleanup", "integer", "hardware_inference", "specialize", "fold"]


def folded(file, blueprint, folder, names, **arguments):
    """Return the layers of a build: what each is, and its constants with their datatypes."""
    from brainsmith.plugins import steps

    result = build(file, blueprint, folder, steps=[steps[name] for name in names], report=False, **arguments)
    model = ModelWrapper(str(result.model))
    layers = []
    for node in model.graph.node:
        given = [(model.get_tensor_datatype(name).name, model.get_initializer(name)) for name in node.input]
        kinds = [model.get_tensor_datatype(name).name for name in node.output]
        stated = sorted(each.SerializeToString(deterministic=True) for each in node.attribute)
        layers.append(((node.op_type, node.domain, kinds, stated), given))
    return layers


def assert_same(ours, finns):
    assert [layer for layer, _ in ours] == [layer for layer, _ in finns]
    for (_, one), (_, other) in zip(ours, finns, strict=True):
        assert [kind for kind, _ in one] == [kind for kind, _ in other]
        for (_, left), (_, right) in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp", "cnn", "residual", "binary_mlp"])
def test_a_digits_network_comes_out_as_the_same_layers(name, tmp_path):
    arguments = ROOT / f"examples/digits/{name}.onnx", ROOT / f"blueprints/digits_{name}_rtl.yaml"
    assert_same(*(folded(*arguments, tmp_path / names[1], names) for names in (OURS, FINN)))


@pytest.mark.slow
def test_a_network_of_one_bit_comes_out_as_the_same_layers(tmp_path):
    file = tfc(tmp_path / "tfc.onnx", (64, 16, 16, 10))
    orders = (OURS, FINN)
    assert_same(
        *(
            folded(file, TFC_BLUEPRINT, tmp_path / names[1], names, verify_inputs=pixels(4, 64))
            for names in orders
        )
    )
