"""Weights of a matrix-vector unit: from FINN's memory, and the overflow of FINN's unit under back-pressure."""

import numpy as np
import pytest

from brainsmith.errors import SimulationError
from brainsmith.rtl.simulation.simulation_plan import plan_simulation
from brainsmith.rtl.simulation.stalls import Stalls
from tests.rtl import finn_layers

FRAMES = 12
MEMORY = ("memstream/hdl/memstream.sv", "memstream/hdl/memstream_axi.sv", "axi/hdl/axilite.sv")

WITH_MEMORY = """
module layer(
    input ap_clk, input ap_rst_n,
    input [{i}:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [{o}:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY
);
wire [{w}:0] data; wire valid, ready;
MVAU_rtl_0_memstream_wrapper weights(.ap_clk(ap_clk), .ap_clk2x(ap_clk), .ap_rst_n(ap_rst_n),
    .m_axis_0_tdata(data), .m_axis_0_tvalid(valid), .m_axis_0_tready(ready));
MVAU_rtl_0 unit(.ap_clk(ap_clk), .ap_rst_n(ap_rst_n),
    .in0_V_TDATA(in0_V_TDATA), .in0_V_TVALID(in0_V_TVALID), .in0_V_TREADY(in0_V_TREADY),
    .in1_V_TDATA(data), .in1_V_TVALID(valid), .in1_V_TREADY(ready),
    .out0_V_TDATA(out0_V_TDATA), .out0_V_TVALID(out0_V_TVALID), .out0_V_TREADY(out0_V_TREADY));
endmodule
"""


@pytest.fixture
def layer(tmp_path):
    return finn_layers.matrix_vector(
        tmp_path / "code", np.random.default_rng(1), mem_mode="internal_decoupled", ram_style="block"
    )


@pytest.mark.slow
def test_a_memory_gives_its_weights_for_ever(layer, library, build):
    files = [*MEMORY, layer.folder / "MVAU_rtl_0_memstream_wrapper.v"]
    simulator = build(plan_simulation("MVAU_rtl_0_memstream_wrapper", files, library, generated=layer.folder))
    weights = layer.weight_beats()
    for seed in (None, 1, 2, 3):
        stalls = {} if seed is None else {"m_axis_0": Stalls.random(seed, 0.4)}
        result = simulator.run(
            {}, {"m_axis_0": 3 * len(weights)}, stalls=stalls, idle=["s_axis_0"], surplus=["m_axis_0"]
        )
        np.testing.assert_array_equal(result.streams["m_axis_0"].words, np.tile(weights, (3, 1)))
        assert (
            result.stalled_share("m_axis_0") == 0 if seed is None else result.stalled_share("m_axis_0") > 0.1
        )


@pytest.mark.slow
def test_a_memory_without_its_content_is_an_error(layer, library, build):
    files = [*MEMORY, layer.folder / "MVAU_rtl_0_memstream_wrapper.v"]
    (layer.folder / "memblock.dat").unlink()
    simulator = build(plan_simulation("MVAU_rtl_0_memstream_wrapper", files, library, generated=layer.folder))
    with pytest.raises(SimulationError, match=r"memblock.dat:0: \$readmem file not found"):
        simulator.run({}, {"m_axis_0": 30}, idle=["s_axis_0"], surplus=["m_axis_0"])


@pytest.mark.slow
def test_a_layer_takes_its_weights_from_its_memory(layer, library, build):
    node = layer.node
    widths = {"i": node.get_instream_width_padded(0), "w": node.get_instream_width_padded(1)}
    widths["o"] = node.get_outstream_width_padded()
    top = layer.folder / "layer.v"
    top.write_text(WITH_MEMORY.format(**{name: bits - 1 for name, bits in widths.items()}))
    files = [
        *node.get_rtl_file_list(abspath=True),
        *MEMORY,
        layer.folder / "MVAU_rtl_0_memstream_wrapper.v",
        top,
    ]
    simulator = build(plan_simulation("layer", files, library, generated=layer.folder))
    frames = layer.random_input(np.random.default_rng(2), FRAMES)
    for seed in (None, 1, 2, 3):
        stalls = {}
        if seed is not None:
            stalls = {"in0_V": Stalls.random(seed, 0.75), "out0_V": Stalls.random(seed + 10, 0.85)}
        result = simulator.run(
            {"in0_V": layer.input_beats(frames)}, {"out0_V": layer.output_count(FRAMES)}, stalls=stalls
        )
        found = layer.output_values(result.streams["out0_V"].words, FRAMES)
        np.testing.assert_array_equal(found, layer.expected(frames))
        assert all(result.stalled_share(end) >= 0.1 for end in stalls)
    first, *_, last = (
        simulator.run({"in0_V": layer.input_beats(frames)}, {"out0_V": layer.output_count(FRAMES)})
        .streams["out0_V"]
        .frames(FRAMES)
    )
    assert (last[1] - first[1]) / (FRAMES - 1) == node.get_exp_cycles()


@pytest.mark.slow
@pytest.mark.parametrize(("mw", "simd"), [(8, 8), (8, 4), (1, 1)])
@pytest.mark.parametrize("pe", [2, 4])
def test_finns_matrix_vector_unit_overflows_with_all_columns_at_once(mw, simd, pe, tmp_path, library, build):
    """A defect of FINN 1.6.1: with SIMD == MW a result may come in every cycle, and the queue is a place too short.

    Some stalls of the output show it and others do not, so one simulation without an error proves little. Without
    stalls, and with any lower SIMD, the results are exact. A build must not choose such a folding unless it proves
    that the output never stalls.
    """
    layer = finn_layers.matrix_vector(
        tmp_path / "code", np.random.default_rng(1), mw=mw, mh=4, simd=simd, pe=pe
    )
    simulator = build(layer.plan(library))
    frames = layer.random_input(np.random.default_rng(2), FRAMES)
    inputs = {"in0_V": layer.input_beats(frames), "in1_V": np.tile(layer.weight_beats(), (4 * FRAMES, 1))}

    def overflows(stalls):
        try:
            result = simulator.run(inputs, {"out0_V": layer.output_count(FRAMES)}, stalls=stalls)
        except SimulationError as error:
            assert "Overflowing output queue" in str(error)
            return True
        found = layer.output_values(result.streams["out0_V"].words, FRAMES)
        np.testing.assert_array_equal(found, layer.expected(frames))
        return False

    assert not overflows({})
    patterns = [Stalls.pattern([0] * go + [1] * stop) for go in (1, 2, 3, 8) for stop in (1, 4, 9, 16)]
    assert any(overflows({"out0_V": pattern}) for pattern in patterns) == (simd == mw)
