"""rtl_size_fifos: the design gets its FIFOs, the report says which, the nodes know them as FINN's do."""

import json
import shutil

import pytest
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError, OutputError
from brainsmith.plugins import steps
from brainsmith.rtl.sizing.fifo_hardware import held
from brainsmith.steps.beat_flow import model_flow
from brainsmith.steps.design_files import PROPERTY, take_design


@pytest.mark.slow
def test_every_stream_of_the_design_gets_a_fifo(stitched, config, tmp_path, heard):
    before = take_design(stitched, config)
    model = steps.rtl_size_fifos(stitched, config)
    design = take_design(model, config)
    assert model.get_metadata_prop(PROPERTY) == design.digest() != before.digest()
    report = json.loads((tmp_path / "report" / "rtl_fifos.json").read_text())
    depths = {link.name: link.depth for link in design.links if not link.weights}
    assert {fifo["name"]: fifo["depth"] for fifo in report["fifos"]} == depths
    assert all(
        fifo["total_bits"] == fifo["bits"] * held(fifo["depth"], fifo["bits"]) for fifo in report["fifos"]
    )
    assert (report["interval"], report["minimal"], report["notes"]) == (design.interval, True, [])
    assert all("fifo #" in text for text in [(tmp_path / "rtl/design/hdl/finn_design.v").read_text()])
    assert {line.partition("; ")[0] for line in heard} == {"sizing FIFOs"}
    many = len(depths)
    said = {work for line in heard for work in line.split("; ")}
    assert {f"making FIFOs smaller, turn 1: {done} of {many} FIFOs" for done in range(many + 1)} <= said


@pytest.mark.slow
def test_the_bits_that_are_found_were_foretold(stitched, config):
    design = take_design(steps.rtl_size_fifos(stitched, config), config)
    found = sum(link.bits * held(link.depth, link.bits) for link in design.links if not link.weights)
    told = model_flow(stitched, config._resolve_fpga_part(), config.synth_clk_period_ns, design.interval).flow
    assert (told.fifo_bits, told.gauge_bits >= found) == (found, True)


@pytest.mark.slow
def test_finns_insertion_would_make_the_same_fifos(stitched, config):
    from finn.transformation.fpgadataflow.insert_fifo import InsertFIFO
    from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers

    model = steps.rtl_size_fifos(stitched, config, search=False)
    design = take_design(model, config)
    wanted = [link.depth for link in design.links if not link.weights]
    copy = ModelWrapper(model.model, make_deepcopy=True)
    for _ in range(2):
        copy = copy.transform(InsertFIFO(create_shallow_fifos=True))
    copy = copy.transform(SpecializeLayers(config._resolve_fpga_part()))
    fifos = [getCustomOp(node) for node in copy.graph.node if node.op_type.startswith("StreamingFIFO")]
    assert [fifo.get_nodeattr("depth") for fifo in fifos] == wanted


@pytest.mark.slow
def test_a_search_without_room_leaves_the_gauges(stitched, config, tmp_path, caplog):
    steps.rtl_size_fifos(stitched, config, simulations=1)
    report = json.loads((tmp_path / "report" / "rtl_fifos.json").read_text())
    assert all(fifo["depth"] == fifo["gauge"] for fifo in report["fifos"])


@pytest.mark.parametrize("given", [0, -1, 2.5, "many"])
def test_a_number_of_simulations_that_is_none_is_refused(stitched, config, given):
    with pytest.raises(BuildError) as caught:
        steps.rtl_size_fifos(stitched, config, simulations=given)
    assert (
        str(caught.value) == f"simulations of rtl_size_fifos must be a whole number, 1 or more, not {given!r}"
    )


def test_a_model_without_a_design_is_refused(dense, config):
    with pytest.raises(
        BuildError, match=r"^the model has no stitched design: run the step rtl_stitch first$"
    ):
        steps.rtl_size_fifos(dense(), config)


def test_a_report_that_cannot_be_written_is_named_before_anything_is_simulated(
    stitched, config, tmp_path, heard
):
    shutil.rmtree(tmp_path / "report")
    (tmp_path / "report").write_text("")
    with pytest.raises(OutputError) as caught:
        steps.rtl_size_fifos(stitched, config)
    assert str(caught.value) == f"{tmp_path}/report/rtl_fifos.json: cannot be written: File exists"
    assert heard == []
