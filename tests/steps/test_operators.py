"""The page of supported operators is true: each becomes what it says, and none that the steps know is left out."""

import re

import pytest

from brainsmith.errors import BuildError
from brainsmith.plugins import steps
from brainsmith.steps.conversions import convertible_op_types
from tests.steps.conftest import op_types
from tests.steps.operator_cases import CIRCUITS, ESTIMATES
from tests.steps.test_networks import FRONT, build
from tests.test_docs import ROOT

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


@pytest.mark.slow
@pytest.mark.parametrize("operator", CIRCUITS)
def test_it_becomes_a_circuit_of_the_layers_that_the_page_names(operator, config):
    config.target_fps = 100_000
    model = build(CIRCUITS[operator](), config, (*FRONT, "rtl_codegen"))
    kinds = set(op_types(model))
    assert rows(CIRCUIT_PART)[operator] <= kinds
    assert {kind for kind in kinds if not kind.endswith("_rtl")} <= {"Transpose", "Mul", "Add"}
    assert steps.rtl_stitch(model, config) is not None


@pytest.mark.slow
@pytest.mark.parametrize("operator", ESTIMATES)
def test_it_has_estimates_and_no_circuit(operator, config):
    config.target_fps = 100_000
    model = build(ESTIMATES[operator](), config, FRONT)
    assert rows(ESTIMATE_PART)[operator] <= set(op_types(model))
    with pytest.raises(BuildError, match="because these layers have no RTL"):
        steps.rtl_codegen(model, config)
