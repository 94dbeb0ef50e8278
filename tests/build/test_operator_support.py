"""What becomes of operators, by the registry; the committed page is what is generated."""

import pytest

from brainsmith.build.operator_support import kernel_support, operator_support, refusals
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.scaffold.new_plugin import new_plugin
from brainsmith.steps.conversions import convertible_op_types
from tests.test_docs import ROOT, load


@pytest.fixture
def registry():
    return get_plugin_manager().all_records()[0]


@pytest.mark.slow
def test_the_page_is_what_is_generated(registry):
    page = load("docs/supported.py").page(registry)
    assert page == (ROOT / "docs" / "supported.md").read_text(), "python docs/supported.py"


@pytest.mark.slow
def test_each_operator_that_steps_convert_has_a_way_and_each_transform_exists(registry):
    ways = operator_support(registry)
    assert convertible_op_types() <= {way.operator for way in ways}
    for way in ways:
        assert registry.resolve("transform", way.transform) if way.transform else way.becomes
        for circuit in way.circuits:
            assert registry.resolve("backend", circuit).backend_type == "rtl"


def test_ways_of_some_operators(registry):
    found = {(way.operator, way.transform): way for way in operator_support(registry)}
    way = found["Slice", "brainsmith:InferCrop"]
    assert (way.becomes, way.circuits) == (("brainsmith:Crop",), ("brainsmith:CropRTL",))
    way = found["Add", "finn:InferElementwiseBinaryOperation"]
    assert way.becomes == ("finn:ElementwiseAdd",)
    assert "brainsmith:ElementwiseAddRTL" in way.circuits
    assert found["Clip", ""].becomes == ("thresholds",)
    assert found["Conv", ""].becomes == ("other operators, or nothing",)
    kernels = {one.kernel: one for one in kernel_support(registry)}
    assert kernels["brainsmith:MatMul"] == (
        *("brainsmith:MatMul", ("brainsmith:InferMatMul",)),
        *(("brainsmith:MatMulRTL",), ("brainsmith:MatMulHLS",)),
    )


def test_refusals_are_read_from_the_source_and_none_is_made_up(registry):
    texts = refusals(registry.resolve("backend", "LookupRTL"))
    assert "its indices are …, which may be negative" in texts
    assert refusals(registry.resolve("backend", "CropRTL")) == []


PASS = """
from qonnx.transformation.base import Transformation

from brainsmith import transform


@transform(kernel="Rectify", description="Convert Abs")
class InferRectify(Transformation):
    op_types = ("Abs", "Neg")

    def apply(self, model):
        return model, False
"""


def test_a_transform_and_a_kernel_of_a_project_are_in_the_list_and_nothing_is_imported(tmp_path, monkeypatch):
    (tmp_path / ".brainsmith").mkdir()
    monkeypatch.chdir(tmp_path)
    reset_plugin_system()
    new_plugin("backend", "RectifyRTL", tmp_path)
    (tmp_path / "plugins" / "infer_rectify.py").write_text(PASS)
    reset_plugin_system()
    registry = get_plugin_manager().all_records()[0]
    ways = [way for way in operator_support(registry) if way.transform == "project:InferRectify"]
    assert [tuple(way) for way in ways] == [
        (name, ("project:Rectify",), "project:InferRectify", ("project:RectifyRTL",))
        for name in ("Abs", "Neg")
    ]
    assert not any(registry.is_loaded(info) for info in registry.records("transform", "project"))
