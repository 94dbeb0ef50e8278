"""Windows whose image size is set by AXI-Lite, as FINN+'s `test_fpgadataflow_slidingwindow_rtl_dynamic` has them.

Its cases: 4, all RTL, all run here, each with the 3 image sizes of upstream; the layer is generated for the largest.
Here every size is written, also the first, and FINN's FIFOs around the layer are left out.
"""

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.beats import pack, unpack
from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.codegen import read_layer
from tests.rtl.finn_cases.cases import HARDWARE, Case, make_model, specialised
from tests.rtl.finn_cases.values import random_values

PART = "xc7z020clg400-1"
SIZES = (32, 16, 8)
CHANNELS, KERNEL, KIND = 6, 3, "UINT4"
WRITES = 16
TOP = """
module top (input ap_clk, input ap_rst_n,
    input [7:0] address_TDATA, input address_TVALID, output address_TREADY,
    input [31:0] value_TDATA, input value_TVALID, output value_TREADY,
    output [7:0] done_TDATA, output done_TVALID, input done_TREADY,
    input [{high}:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [{high}:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY);
reg [7:0] written = 0;  // after the last write the layer is reset, and only then it is fed
reg [3:0] pulse = 0;
wire all = written == {writes};
wire go = all & (&pulse);
wire ready;
always @(posedge ap_clk) if (!ap_rst_n) begin written <= 0; pulse <= 0; end else begin
    if (done_TVALID & done_TREADY) written <= written + 1;
    if (all & !(&pulse)) pulse <= pulse + 1;
end
assign in0_V_TREADY = ready & go;
assign done_TDATA[7:2] = 0;
{module} layer (.ap_clk(ap_clk), .ap_rst_n(ap_rst_n & (!all | go)),
    .in0_V_TDATA(in0_V_TDATA), .in0_V_TVALID(in0_V_TVALID & go), .in0_V_TREADY(ready),
    .out0_V_TDATA(out0_V_TDATA), .out0_V_TVALID(out0_V_TVALID), .out0_V_TREADY(out0_V_TREADY),
    .s_axilite_awaddr(address_TDATA[5:0]), .s_axilite_awprot(0), .s_axilite_awvalid(address_TVALID),
    .s_axilite_awready(address_TREADY), .s_axilite_wdata(value_TDATA), .s_axilite_wstrb(4'hf),
    .s_axilite_wvalid(value_TVALID), .s_axilite_wready(value_TREADY), .s_axilite_bresp(done_TDATA[1:0]),
    .s_axilite_bvalid(done_TVALID), .s_axilite_bready(done_TREADY), .s_axilite_araddr(0), .s_axilite_arprot(0),
    .s_axilite_arvalid(0), .s_axilite_arready(), .s_axilite_rdata(), .s_axilite_rresp(), .s_axilite_rvalid(),
    .s_axilite_rready(0));
endmodule
"""


def make_layer(depthwise, simd):
    size, out = SIZES[0], SIZES[0] - KERNEL + 1
    node = helper.make_node(
        "ConvolutionInputGenerator", ["x"], ["y"], domain=HARDWARE, backend="fpgadataflow", name="window",
        ConvKernelDim=(KERNEL, KERNEL), IFMChannels=CHANNELS, IFMDim=(size, size), OFMDim=(out, out), SIMD=simd, M=1,
        parallel_window=0, Stride=(1, 1), Dilation=(1, 1), inputDataType=KIND, outputDataType=KIND,
        depthwise=depthwise, dynamic_mode=1,
    )  # fmt: skip
    shapes = {"x": (1, size, size, CHANNELS)}, {"y": (1, out, out, KERNEL**2 * CHANNELS)}
    model = make_model(node, *shapes, {"x": KIND, "y": KIND})
    return Case(None, specialised(model, PART, "ConvolutionInputGenerator_rtl"), PART)


def windows(image, depthwise, simd):
    """Return the pixels of all windows of (size, size, channels) as the layer orders them, `simd` of them in a row."""
    found = np.lib.stride_tricks.sliding_window_view(image, (KERNEL, KERNEL), axis=(0, 1))
    found = found.transpose(0, 1, 3, 4, 2).reshape(-1, KERNEL**2, CHANNELS // simd, simd)
    return (found.swapaxes(1, 2) if depthwise else found).reshape(-1, simd)


@pytest.mark.slow
@pytest.mark.parametrize(("depthwise", "simd"), [(1, 2), (0, 2), (0, 6), (1, 6)])
def test_all_cases(depthwise, simd, tmp_path, library, simulations):
    case = make_layer(depthwise, simd)
    case.node.set_nodeattr("code_gen_dir_ipgen", str(tmp_path))
    case.node.code_generation_ipgen(case.layer, PART, 5)
    code = read_layer(case.node, library)
    bits = case.node.get_instream_width_padded(0)
    text = TOP.format(high=bits - 1, module=code.module, writes=WRITES)
    sources = sorted(code.sources, key=lambda source: "endpackage" not in source.text)
    plan = SimulationPlan("top", (*sources, RtlSource("top.v", text)), code.memories)
    simulator = build_simulator(plan, quick=True)
    kind, rng = DataType[KIND], np.random.default_rng(1)
    for size in SIZES:
        image = random_values(rng, kind, (size, size, CHANNELS)).astype(np.int64)
        expected = windows(image, depthwise, simd)
        addresses, values = zip(*case.node.get_dynamic_config((size, size)).values(), strict=True)
        assert len(values) == WRITES
        feed = {
            "address": pack(np.array(addresses)[:, None], 8),
            "value": pack(np.array(values)[:, None], 32),
            "in0_V": pack(image.reshape(-1, simd), 4, bits),
        }
        counts = {"done": WRITES, "out0_V": len(expected)}
        for share in (0.0, 0.3):
            stalls = {name: Stalls.random(at, share) for at, name in enumerate(("in0_V", "out0_V"))}
            result = simulator.run(feed, counts, stalls=stalls, constant=["done"], limit=100_000)
            found = unpack(result.streams["out0_V"].words, 4, simd, signed=False)
            np.testing.assert_array_equal(found, expected)
