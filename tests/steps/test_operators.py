"""The page of supported operators is true: each becomes what it says, and none that the steps know is left out."""

import re

import numpy as np
import pytest

from brainsmith.errors import BuildError
from brainsmith.plugins import steps
from brainsmith.steps.conversions import convertible_op_types
from tests.steps.conftest import QONNX, Graph, integers, op_types
from tests.steps.operator_cases import CIRCUITS, ESTIMATES, forked
from tests.steps.test_front_end import run
from tests.steps.test_networks import build
from tests.test_docs import ROOT, blocks

FRONT = ("cleanup", "integer", "hardware_inference", "specialize", "fold", "estimate")
PAGE = (ROOT / "docs" / "operators.md").read_text()
CIRCUIT_PART, ESTIMATE_PART, KNOWN_PART = re.split(r"^## .*\n", PAGE, flags=re.MULTILINE)[1:4]
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")


def rows(part):
    """Return the layers that a table names, by operator."""
    return {operator: set(NAME.findall(becomes)) for operator, becomes in ROW.findall(part)}


def test_every_operator_that_the_steps_know_stands_in_one_place():
    tables = set(rows(CIRCUIT_PART)) | set(rows(ESTIMATE_PART))
    known = set(NAME.findall(KNOWN_PART))
    assert tables & known == set()
    assert tables | known == convertible_op_types()


def test_every_row_has_its_network():
    assert list(rows(CIRCUIT_PART)) == sorted(CIRCUITS)
    assert list(rows(ESTIMATE_PART)) == sorted(ESTIMATES)


def test_a_model_of_floats_takes_integers_as_the_page_says(config):
    graph = Graph(1, 8).node(
        "Quant", 1 / 255, 0.0, 8.0, domain=QONNX, signed=0, narrow=0, rounding_mode="ROUND"
    )
    model = graph.node("MatMul", graph.weights(integers(1, 8, 4))).model(1, 4, datatype="FLOAT32")
    model = steps.cleanup(model, config)
    pixels = np.random.default_rng(0).integers(0, 256, (5, 1, 8))
    before = [run(model, x.astype(np.float32) / np.float32(255)) for x in pixels]
    scope = {}
    exec("\n".join(blocks("docs/operators.md", "python")), scope)
    changed = scope["takes_integers"](model)
    assert changed.get_tensor_datatype(changed.graph.input[0].name).name == "UINT8"
    changed = steps.cleanup(changed, config)
    for x, expected in zip(pixels, before, strict=True):
        np.testing.assert_array_equal(run(changed, x.astype(np.float32)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("operator", CIRCUITS)
def test_it_becomes_a_circuit_of_the_layers_that_the_page_names(operator, config):
    config.target_fps = 100_000
    model = build(CIRCUITS[operator](), config, (*FRONT, "rtl_codegen"))
    kinds = set(op_types(model))
    assert rows(CIRCUIT_PART)[operator] <= kinds
    assert {kind for kind in kinds if not kind.lower().endswith("rtl")} <= {
        "Transpose",
        "Reshape",
        "Mul",
        "Add",
    }
    assert steps.rtl_stitch(model, config) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "layer"), [("Mul", "ElementwiseMulInt_rtl"), ("Sub", "ElementwiseSubInt_rtl")]
)
def test_two_branches_become_a_circuit(operator, layer, config):
    config.target_fps = 100_000
    model = build(forked(operator)(), config, (*FRONT, "rtl_codegen"))
    assert layer in op_types(model)
    assert steps.rtl_stitch(model, config) is not None


@pytest.mark.slow
@pytest.mark.parametrize("operator", ESTIMATES)
def test_it_has_estimates_and_no_circuit(operator, config):
    config.target_fps = 100_000
    model = build(ESTIMATES[operator](), config, FRONT)
    assert rows(ESTIMATE_PART)[operator] <= set(op_types(model))
    with pytest.raises(BuildError, match="because these layers have no RTL"):
        steps.rtl_codegen(model, config)
